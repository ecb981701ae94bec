/**
 * What `npm run api-docs` generates: nothing is missing in docs/api.md, client/Contract.ts compiles, and test/README.md, which
 * is committed, is current.
 */
import { assert, describe, it } from "@effect/vitest"
import { execFile } from "node:child_process"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { apiDocument } from "../support/api/ApiDocument.ts"
import { clientContract } from "../support/api/ClientContract.ts"
import { commentOf, entries, kindOf, modules } from "../support/api/Entries.ts"
import { supportFiles, supportIndex } from "../support/api/SupportIndex.ts"
import { projectRoot } from "../support/project/PlantedProject.ts"

describe("the API's document", () => {
  const written = apiDocument()

  it("has every export of every entry, and each module with its purpose and documented exports", () => {
    const sections = written.split(/^##+ (?=agent-tool-billing|adapters\/|domain\/)/gmu).slice(1)
    for (const [index, { exports, module, name }] of [...entries(), ...modules()].entries()) {
      const section = sections[index]!
      assert.include([name, module], /^\S+/u.exec(section)![0])
      for (const one of exports.filter((exported) => commentOf(exported) !== ""))
        assert.match(section, new RegExp(`\`${one.name}\`|interface ${one.name} \\{|type ${one.name} = `, "u"))
    }
    const titles = [...written.matchAll(/^### .+$/gmu)]
    assert.lengthOf([...written.matchAll(/^### [\w/]+(?: \((?:service|port)\))?\n\n\S.+$/gmu)], titles.length)
  })

  it("has every service and port of the modules, verbatim", () => {
    const services = modules().flatMap(({ exports }) =>
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
  it("is current", async () => {
    const index = await readFile(join(projectRoot, "test/README.md"), "utf8")
    assert.strictEqual(index, supportIndex(), "run `npm run api-docs`")
  })

  it("has a sentence for every file", () => {
    const described = [...supportIndex().matchAll(/^- \[`([^`]+)`\]\([^)]+\): \S.{10,}$/gmu)].map(([, path]) => path!)
    assert.deepStrictEqual(described, [...supportFiles()])
  })
})

const CONFIG = {
  compilerOptions: {
    target: "ES2023",
    module: "NodeNext",
    types: [],
    strict: true,
    exactOptionalPropertyTypes: true,
    noEmit: true,
    allowImportingTsExtensions: true
  },
  files: ["program.ts"]
}

const PROGRAM = `
import { type Operations, ROUTES, type Schemas } from "./Contract.ts"

export const route: "GET ~tools/{id}" = ROUTES.catalog.tool
type Tool = Operations["catalog"]["tool"]
export const params: Tool["params"] = { id: "ada-tools/search" }
export const priceOf = (tool: Tool["success"]): number => tool.declaration.price_microcents ?? tool.pricing.price_microcents
/** What is retrieved can be sent. */
export const again = (tool: Schemas["ToolDetails"]): Operations["catalog"]["registerTools"]["payload"] => ({
  tools: [tool.declaration]
})
// @ts-expect-error: the contract does not have this field.
export const unknown = (tool: Schemas["ToolDetails"]) => tool.declaration.prize
`

const compiled = async (contract: string) => {
  const folder = await mkdtemp(join(tmpdir(), "agent-tool-billing-contract-"))
  try {
    await writeFile(join(folder, "package.json"), `{ "type": "module" }`)
    await writeFile(join(folder, "tsconfig.json"), JSON.stringify(CONFIG))
    await writeFile(join(folder, "program.ts"), PROGRAM)
    await writeFile(join(folder, "Contract.ts"), contract)
    const compiler = join(projectRoot, "node_modules/@typescript/native/bin/tsc")
    return await promisify(execFile)(process.execPath, [compiler, "-p", folder]).then(
      () => "",
      ({ stdout }: { readonly stdout: string }) => stdout
    )
  } finally {
    await rm(folder, { recursive: true })
  }
}

describe("the client's contract", () => {
  it("compiles, and what is retrieved can be sent", async () => {
    assert.strictEqual(await compiled(await clientContract()), "")
  })

  it("would not compile with a name that is no schema", async () => {
    assert.match(await compiled(`${await clientContract()}\nexport type Wrong = Schemas["Wrong"]\n`), /TS2339/u)
  })
})
