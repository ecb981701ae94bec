/**
 * docs/api.md matches the sources.
 */
import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { apiDocument } from "../support/api/ApiDocument.ts"
import { clientContract } from "../support/api/ClientContract.ts"
import { entries, kindOf } from "../support/api/Entries.ts"
import { supportFiles, supportIndex } from "../support/api/SupportIndex.ts"
import { projectRoot } from "../support/PlantedProject.ts"

const written = readFileSync(join(projectRoot, "docs/api.md"), "utf8")

describe("the API's document", () => {
  it("is current", () => {
    assert.strictEqual(written, apiDocument(), "npm run api-docs writes it anew")
  })

  it("has every export of every entry, each module with its purpose", () => {
    const sections = written.split(/^## (?=agent-tool-billing)/gmu).slice(1)
    for (const [index, { exports, name }] of entries().entries()) {
      const section = sections[index]!
      assert.isTrue(section.startsWith(`${name}\n`))
      for (const one of exports)
        assert.match(section, new RegExp(`\`${one.name}\`|interface ${one.name} \\{|type ${one.name} = `, "u"))
    }
    const titles = [...written.matchAll(/^### .+$/gmu)]
    assert.lengthOf([...written.matchAll(/^### \w+(?: \((?:service|port)\))?\n\n\S.+$/gmu)], titles.length)
  })

  it("has every service and port of the entries, verbatim", () => {
    const services = entries().flatMap(({ exports }) =>
      exports.filter((one) => /^(?:service|port)$/u.test(kindOf(one)))
    )
    assert.isAbove(services.length, 60)
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
