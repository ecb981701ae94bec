import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { type Files, lint } from "../support/PlantedProject.ts"

const IMPORTS = "eslint(no-restricted-imports)"

/** One file for every module: its name says which of them it imports. */
const importing = (folder: string, modules: ReadonlyArray<string>): Files =>
  Object.fromEntries(modules.map((module, index) => [`${folder}/File${index}.ts`, `import "${module}"\n`]))

/** The modules whose import oxlint rejected. */
const refused = (folder: string, modules: ReadonlyArray<string>) =>
  Effect.map(lint(importing(folder, modules)), (complaints) =>
    modules.filter((_, index) =>
      complaints.some(({ file, rule }) => file === `${folder}/File${index}.ts` && rule === IMPORTS)
    )
  )

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

describe("an import from another layer is rejected", () => {
  it.live.each<readonly [folder: string, modules: ReadonlyArray<string>]>([
    [
      "domain/ledger",
      [
        "effect/sql",
        "effect/http",
        "effect/Schema",
        "@effect/sql-pg",
        "@effect/platform-node",
        "ajv",
        "undici",
        "node:fs",
        "node:crypto",
        "fs",
        "crypto",
        ...gone,
        "../../adapters/sql/LedgerStore.ts",
        "../../src/config.ts",
        "../../migrations/index.ts",
        "../../test/x.ts",
        "./../../src/config.ts",
        "../shared/../../src/config.ts",
        "agent-tool-billing/src/index",
        "/etc/passwd"
      ]
    ],
    [
      "domain/ledger/rules",
      ["effect/sql", "node:fs", "../../../adapters/sql/LedgerStore.ts", "../../../src/config.ts"]
    ],
    [
      "adapters/http",
      [
        "../sql/LedgerStore.ts",
        "../memory/LedgerStore.ts",
        "../../adapters/sql/LedgerStore.ts",
        "../../src/config.ts",
        "../../migrations/index.ts",
        "../../test/support/PostgresTest.ts",
        ...gone,
        "./../sql/LedgerStore.ts",
        "../http/../sql/LedgerStore.ts",
        "agent-tool-billing/adapters/sql/LedgerStore"
      ]
    ],
    [
      "adapters/http/api",
      ["../../sql/LedgerStore.ts", "../../../src/config.ts", "../../../adapters/sql/X.ts", ...gone]
    ],
    ["adapters/http/api/parts", ["../../../sql/LedgerStore.ts", "../../../../src/config.ts", ...gone]],
    ["adapters/site", ["../sql/LedgerStore.ts", "../../src/config.ts", ...gone]],
    [
      "adapters/site/tool",
      ["../../sql/LedgerStore.ts", "../../../src/config.ts", "../kit/Form.browser.ts", "./ToolPage.browser.ts", ...gone]
    ],
    ["migrations", ["node:fs", "ajv", "../domain/shared/Ids.ts", "../adapters/sql/X.ts", "../src/config.ts", ...gone]],
    ["src", ["../test/support/PostgresTest.ts", ...gone]],
    ["testing", ["../test/support/PostgresTest.ts", "@effect/vitest", "vitest", ...gone]],
    ["testing/contracts", ["../../test/support/PostgresTest.ts", "vitest"]],
    ["test/domain", gone],
    // No rule distinguishes folders at these depths, so they may not import anything.
    ["domain", ["../adapters/sql/LedgerStore.ts", "../src/config.ts"]],
    ["domain/a/b/c", ["../../../../src/config.ts"]],
    ["adapters", ["../src/config.ts"]],
    ["adapters/a/b/c/d", ["../../../../sql/LedgerStore.ts", "../../../../../src/config.ts"]]
  ])("from %s", ([folder, modules]) =>
    Effect.map(refused(folder, modules), (caught) => assert.deepStrictEqual(caught, modules))
  )
})

describe("an import within its layer passes", () => {
  it.live.each<readonly [folder: string, modules: ReadonlyArray<string>]>([
    ["domain/ledger", ["effect", "./Ledger.ts", "./rules/Fee.ts", "../shared/Ids.ts"]],
    ["domain/ledger/rules", ["effect", "./Fee.ts", "../Ledger.ts", "../../shared/Ids.ts"]],
    ["adapters/http", [...libraries, "./Server.ts", "./api/Api.ts", "../../domain/shared/Ids.ts"]],
    [
      "adapters/http/api",
      [...libraries, "./Api.ts", "../Server.ts", "../pipeline/Route.ts", "../../../domain/shared/Ids.ts"]
    ],
    ["adapters/http/api/parts", [...libraries, "../Api.ts", "../../Server.ts", "../../../../domain/shared/Ids.ts"]],
    [
      "adapters/site/tool",
      [...libraries, "./ToolPage.ts", "../kit/Html.ts", "../../http/pipeline/Route.ts", "../../../domain/shared/Ids.ts"]
    ],
    ["migrations", ["effect", "effect/sql", "effect/sql/Migrator", "@effect/sql-pg", "./0001_ledger.ts"]],
    ["src", [...libraries, "../domain/shared/Ids.ts", "../adapters/http/Server.ts", "../migrations/index.ts"]],
    [
      "testing",
      [...libraries, "./Market.ts", "../domain/shared/Ids.ts", "../adapters/a/A.ts", "../src/layers/Core.ts"]
    ],
    ["test/domain", [...libraries, "../../src/config.ts", "../../adapters/sql/X.ts", "../../domain/shared/Ids.ts"]]
  ])("from %s", ([folder, modules]) =>
    Effect.map(refused(folder, modules), (caught) => assert.deepStrictEqual(caught, []))
  )
})

it.live("a browser module imports browser modules, and types of the API", () =>
  Effect.gen(function* () {
    const files = {
      "adapters/site/tool/Value.browser.ts": `import { a } from "../../http/api/Api.ts"\nexport const b = a\n`,
      "adapters/site/tool/Server.browser.ts": `import type { A } from "../kit/Html.ts"\nexport type B = A\n`,
      "adapters/site/tool/Domain.browser.ts": `import type { A } from "../../../domain/a/A.ts"\nexport type B = A\n`,
      "adapters/site/tool/Library.browser.ts": `import { Effect } from "effect"\nexport const a = Effect.void\n`,
      "adapters/site/tool/form/Value.browser.ts": `import { a } from "../../../http/api/Api.ts"\nexport const b = a\n`,
      "adapters/site/tool/form/Server.browser.ts": `import type { A } from "../../kit/Html.ts"\nexport type B = A\n`,
      "adapters/site/tool/form/Domain.browser.ts": `import type { A } from "../../../../domain/a/A.ts"\nexport type B = A\n`,
      "adapters/site/tool/form/Library.browser.ts": `import { Effect } from "effect"\nexport const a = Effect.void\n`
    }
    const allowed = {
      "adapters/site/tool/Allowed.browser.ts":
        `import type { A } from "../../http/api/Api.ts"\nimport { b } from "./B.browser.ts"\n` +
        `import { c } from "../kit/C.browser.ts"\nexport const d: A = b + c\n`,
      "adapters/site/tool/form/Allowed.browser.ts":
        `import { signal } from "@preact/signals"\nimport { Fragment } from "preact"\n` +
        `import type { A } from "../../../http/api/Api.ts"\nimport { b } from "../B.browser.ts"\n` +
        `import { c } from "../../kit/C.browser.ts"\nexport const d: A = [b, c, signal, Fragment]\n`
    }
    const caught = (yield* lint({ ...files, ...allowed }))
      .filter(({ rule }) => rule === IMPORTS)
      .map(({ file }) => file)
    assert.sameMembers(caught, Object.keys(files))
  })
)

it.live("every form of import is checked", () =>
  Effect.gen(function* () {
    const files = {
      "domain/a/Named.ts": `import { readFile } from "node:fs"\nexport const a = readFile\n`,
      "domain/a/Type.ts": `import type { Stats } from "node:fs"\nexport type A = Stats\n`,
      "domain/a/Dynamic.ts": `export const a = import("node:fs")\n`,
      "domain/a/ReExport.ts": `export { readFile } from "node:fs"\n`
    }
    const caught = (yield* lint(files)).filter(({ rule }) => rule === IMPORTS).map(({ file }) => file)
    assert.sameMembers(caught, Object.keys(files))
    const typeQuery = { "domain/a/TypeQuery.ts": `export type A = import("node:fs").Stats\n` }
    assert.deepStrictEqual(yield* lint(typeQuery), [
      { file: "domain/a/TypeQuery.ts", rule: "typescript(consistent-type-imports)" }
    ])
  })
)
