/**
 * Imports keep the layers apart, go down the order of the domain's rooms, and never in a circle of folders. Planted violations prove
 * that each rule finds what it forbids.
 */
import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { importsIn, knots, layerFaults, orderFaults, projectSources } from "../support/house/ImportGraph.ts"
import { projectRoot } from "../support/project/PlantedProject.ts"

const architecture = readFileSync(join(projectRoot, "docs/architecture.md"), "utf8")
/** The rooms of the picture, the lowest first. */
const order = [
  ...architecture
    .slice(architecture.indexOf("## The order of rooms"))
    .split("```")[1]!
    .matchAll(/^(\w+) /gmu)
]
  .map(([, room]) => room!)
  .toReversed()

const sources = projectSources()

describe("the sources", () => {
  it("import within their layers", () => assert.deepStrictEqual(layerFaults(sources), []))

  it("import down the order of the domain's rooms", () => {
    assert.isAbove(order.length, 15)
    assert.deepStrictEqual(orderFaults(sources, order), [])
  })

  it("have no folders that import each other, directly or around", () => assert.deepStrictEqual(knots(sources), []))

  it("are read as a whole", () => {
    assert.isAbove(sources.size, 400)
    const imports = [...sources].flatMap(([path, text]) => importsIn(path, text))
    assert.isAbove(imports.filter(({ specifier }) => specifier.startsWith(".")).length, 3_000)
    const unknown = imports.filter(
      ({ specifier, to }) => specifier.startsWith(".") && to.endsWith(".ts") && !sources.has(to)
    )
    assert.deepStrictEqual(unknown, [])
  })
})

/** The modules whose import is a fault. */
const refused = (path: string, modules: ReadonlyArray<string>, form = (module: string) => `import "${module}"\n`) =>
  modules.filter((module) => layerFaults(new Map([[path, form(module)]])).length > 0)

const gone = [
  "@effect/platform",
  "@effect/platform/HttpRouter",
  "@effect/sql",
  "@effect/schema",
  "effect/unstable/http"
]
const libraries = [
  "effect",
  "effect/http",
  "effect/sql",
  "@effect/sql-pg",
  "@effect/platform-node",
  "undici",
  "node:fs"
]
const roundabout = ["agent-tool-billing/src/index", "/etc/passwd", "file:///etc/passwd"]

describe("an import from another layer is a fault", () => {
  it.each<readonly [path: string, modules: ReadonlyArray<string>]>([
    [
      "domain/ledger/A.ts",
      [
        "effect/sql",
        "effect/Schema",
        "@effect/sql-pg",
        "@effect/platform-node",
        "ajv",
        "node:fs",
        "fs",
        ...gone,
        "../../adapters/sql/LedgerStore.ts",
        "../../src/Serve.ts",
        "../../migrations/index.ts",
        "../../test/x.ts",
        "../../testing/index.ts",
        "./../../src/Serve.ts",
        "../shared/../../src/Serve.ts",
        ...roundabout,
        "./../shared/Ids.ts",
        "../ledger/Book.ts"
      ]
    ],
    ["domain/ledger/rules/A.ts", ["effect/sql", "node:fs", "../../../adapters/sql/A.ts", "../../../src/Serve.ts"]],
    ["domain/A.ts", ["../adapters/sql/LedgerStore.ts", "../src/Serve.ts"]],
    [
      "adapters/http/A.ts",
      [
        "../sql/LedgerStore.ts",
        "../memory/LedgerStore.ts",
        "../../src/Serve.ts",
        "../../migrations/index.ts",
        "../../test/support/A.ts",
        "../../testing/index.ts",
        "../../client/index.ts",
        "./../sql/A.ts",
        ...gone,
        "../http/../sql/A.ts",
        "../site/kit/Html.ts",
        ...roundabout
      ]
    ],
    ["adapters/http/contract/A.ts", ["../../sql/LedgerStore.ts", "../../../src/Serve.ts", ...gone]],
    ["adapters/a/b/c/d/A.ts", ["../../../../sql/LedgerStore.ts", "../../../../../src/Serve.ts"]],
    ["adapters/A.ts", ["../src/Serve.ts"]],
    ["adapters/site/catalog/A.ts", ["../../sql/A.ts", "../../../src/Serve.ts", "../kit/Form.browser.ts", ...gone]],
    [
      "adapters/site/catalog/A.browser.ts",
      [
        "effect",
        "node:fs",
        "./ToolPage.ts",
        "../kit/Html.ts",
        "../../http/catalog/CatalogApi.ts",
        "../../sql/A.browser.ts"
      ]
    ],
    [
      "migrations/A.ts",
      ["node:fs", "ajv", "../domain/shared/Ids.ts", "../adapters/sql/X.ts", "../src/Serve.ts", ...gone]
    ],
    ["client/A.ts", ["effect", "node:fs", "../domain/shared/Ids.ts", "../adapters/http/openapi/Api.ts"]],
    ["src/A.ts", ["../test/support/servers/PostgresTest.ts", ...gone]],
    ["testing/A.ts", ["../test/support/servers/PostgresTest.ts", "@effect/vitest", "vitest", ...gone]],
    ["testing/contracts/A.ts", ["../../test/support/servers/PostgresTest.ts", "vitest"]]
  ])("from %s", (path, modules) => assert.deepStrictEqual(refused(path, modules), [...modules]))
})

describe("an import within its layer passes", () => {
  it.each<readonly [path: string, modules: ReadonlyArray<string>]>([
    ["domain/ledger/A.ts", ["effect", "./Ledger.ts", "./rules/Fee.ts", "../shared/Ids.ts"]],
    ["domain/ledger/rules/A.ts", ["effect", "./Fee.ts", "../Ledger.ts", "../../shared/Ids.ts"]],
    ["adapters/http/A.ts", [...libraries, "./Server.ts", "./openapi/Api.ts", "../../domain/shared/Ids.ts"]],
    ["adapters/http/openapi/A.ts", [...libraries, "./Api.ts", "../Server.ts", "../pipeline/Route.ts"]],
    ["adapters/site/catalog/A.ts", [...libraries, "./B.ts", "../kit/Html.ts", "../../http/pipeline/Route.ts"]],
    ["adapters/site/catalog/A.browser.ts", ["preact", "@preact/signals", "./B.browser.ts", "../kit/C.browser.ts"]],
    ["migrations/A.ts", ["effect", "effect/sql", "effect/sql/Migrator", "@effect/sql-pg", "./0001_ledger.ts"]],
    ["client/A.ts", ["./Contract.ts", "../adapters/site/verify/ReceiptVerifier.browser.ts"]],
    ["src/A.ts", [...libraries, "../domain/shared/Ids.ts", "../adapters/http/Server.ts", "../migrations/index.ts"]],
    ["testing/A.ts", [...libraries, "./Market.ts", "../adapters/a/A.ts", "../src/layers/Core.ts"]]
  ])("from %s", (path, modules) => assert.deepStrictEqual(refused(path, modules), []))

  it("a browser module imports types of the contract", () =>
    assert.deepStrictEqual(
      refused(
        "adapters/site/kit/A.browser.ts",
        ["../../http/trust/TrustApi.ts"],
        (m) => `import type { A } from "${m}"\n`
      ),
      []
    ))
})

it.each<readonly [form: string, (module: string) => string]>([
  ["named", (module) => `import { readFile } from "${module}"\n`],
  ["several lines", (module) => `import {\n  readFile,\n  type Stats\n} from "${module}"\n`],
  ["default", (module) => `import fs from "${module}"\n`],
  ["namespace", (module) => `import * as fs from "${module}"\n`],
  ["type", (module) => `import type { Stats } from "${module}"\n`],
  ["dynamic", (module) => `export const a = import("${module}")\n`],
  ["type query", (module) => `export type A = import("${module}").Stats\n`],
  ["export", (module) => `export { readFile } from "${module}"\n`],
  ["export of all", (module) => `export * from "${module}"\n`]
])("finds an import of the form: %s", (_, form) =>
  assert.deepStrictEqual(refused("domain/a/A.ts", ["node:fs"], form), ["node:fs"])
)

it("finds an import that goes up the order, and a room without a place in it", () => {
  const planted = new Map([
    ["domain/shared/A.ts", `import type { B } from "../ledger/B.ts"\n`],
    ["domain/ledger/B.ts", `import { C } from "../shared/C.ts"\n`],
    ["domain/attic/D.ts", `import { C } from "../shared/C.ts"\n`]
  ])
  assert.deepStrictEqual(orderFaults(planted, ["shared", "ledger"]), [
    "domain/attic/D.ts is in no room of the order",
    "domain/shared/A.ts imports ../ledger/B.ts",
    "domain/attic/D.ts imports ../shared/C.ts"
  ])
})

it("finds folders that import each other, and those that do around a third", () => {
  const direct = new Map([
    ["adapters/a/x/A.ts", `import { B } from "../y/B.ts"\n`],
    ["adapters/a/y/C.ts", `import type { D } from "../x/D.ts"\n`],
    ["adapters/a/z/E.ts", `import { A } from "../x/A.ts"\n`]
  ])
  assert.lengthOf(knots(direct), 2)
  const around = new Map([
    ["src/A.ts", `import { B } from "./x/B.ts"\n`],
    ["src/x/B.ts", `import { C } from "./y/C.ts"\n`],
    ["src/x/y/C.ts", `import { A } from "../../A.ts"\n`]
  ])
  assert.lengthOf(knots(around), 3)
})
