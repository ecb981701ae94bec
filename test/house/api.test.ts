/**
 * docs/api.md matches the sources.
 */
import { assert, describe, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { apiDocument } from "../support/api/ApiDocument.ts"
import { clientContract } from "../support/api/ClientContract.ts"
import { supportFiles, supportIndex } from "../support/api/SupportIndex.ts"
import { projectRoot } from "../support/PlantedProject.ts"

const written = readFileSync(join(projectRoot, "docs/api.md"), "utf8")

describe("the API's document", () => {
  it("is current", () => {
    assert.strictEqual(written, apiDocument(), "npm run api-docs writes it anew")
  })

  it("has every module of the core, each with its purpose", () => {
    const modules = readdirSync(join(projectRoot, "domain"), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts"))
      .map((name) => name.slice(name.lastIndexOf("/") + 1, -".ts".length))
    const described = [...written.matchAll(/^### (\w+)(?: \((?:service|port)\))?\n\n(\S.*)$/gmu)]
    assert.sameMembers(
      described.map(([, name]) => name!),
      modules
    )
  })

  it("has every service and port, verbatim", () => {
    const sources = readdirSync(join(projectRoot, "domain"), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts"))
      .map((name) => readFileSync(join(projectRoot, "domain", name), "utf8"))
    const services = sources.flatMap((text) => [...text.matchAll(/^export class (\w+) extends Context\.Service</gmu)])
    assert.isAbove(services.length, 60)
    for (const [, name] of services)
      assert.match(written, new RegExp(`^(?:interface ${name!} \\{|type ${name!} = )`, "mu"))
    assert.include(
      written,
      "\n  quote(request: CallRequest): Effect.Effect<CallQuote, CallRejected | StoreUnavailable>\n"
    )
  })
})

describe("the index of test support", () => {
  const index = readFileSync(join(projectRoot, "test/README.md"), "utf8")

  it("is current", () => {
    assert.strictEqual(index, supportIndex(), "run `npm run api-docs`")
  })

  it("has a sentence for every file", () => {
    const described = [...index.matchAll(/^- \[`([^`]+)`\]\([^)]+\): \S.{10,}$/gmu)].map(([, path]) => path!)
    assert.deepStrictEqual(described, [...supportFiles()])
  })
})

describe("the client's contract", () => {
  it("is current", async () => {
    const text = readFileSync(join(projectRoot, "client/Contract.ts"), "utf8")
    assert.strictEqual(text, await clientContract(), "run `npm run api-docs`")
  })
})
