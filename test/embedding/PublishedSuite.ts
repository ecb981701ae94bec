/**
 * The tarball by the tools that check packages, and what a program downloads, loads and bundles with it.
 */
import { assert, type Vitest } from "@effect/vitest"
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core"
import { Effect } from "effect"
import { readFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { publint } from "publint"
import { formatMessage } from "publint/utils"
import { rolldown } from "rolldown"
import manifest from "../../package.json" with { type: "json" }
import { bytesIn, installedFor, MEGABYTE } from "../support/project/InstalledPackages.ts"
import { type App, PackedPackage, required } from "../support/project/PackedPackage.ts"
import { projectRoot } from "../support/project/PlantedProject.ts"

/** A file each: importing one loads what it needs and no more. */
const OWN_MODULES_MAX = 220
const KIB = 1_024

/** What programs import, and how much of the package and of effect they then contain, minified. */
const BUNDLES: Readonly<Record<string, number>> = {
  [`export { core, Ledger, Metering } from "agent-tool-billing/core"
export { Loads } from "agent-tool-billing/domain/payments/Loads"
export { Registration } from "agent-tool-billing/domain/providers/Registration"
export { ToolUpstream } from "agent-tool-billing/domain/upstream/ToolUpstream"
export { memoryPorts } from "agent-tool-billing/memory"`]: 432 * KIB,
  [`export { Ledger } from "agent-tool-billing/core"`]: 130 * KIB,
  [`export { scoreTraffic } from "agent-tool-billing/domain/trust/TrustScore"`]: 10 * KIB
}

const SCHEMA_PROGRAM = `import { Effect } from "effect"
import { layer as jsonSchemas } from "agent-tool-billing/adapters/jsonschema/LazyJsonSchemas"
import { JsonSchemas } from "agent-tool-billing/domain/catalog/JsonSchemas"
const provider = "01a2231c-a436-7299-b1b3-8202ffbb377a"
const valid = Effect.flatMap(JsonSchemas, ({ check }) => check({ type: "object" }, provider))
console.log(await Effect.runPromise(Effect.as(Effect.provide(valid, jsonSchemas), "valid")))
`

const THREAD = "adapters/jsonschema/SchemaThread.js"

/** As docs/embedding.md says. */
const bundledTo = ({ folder }: App, input: string, dir: string) =>
  Effect.promise(async () => {
    const bundle = await rolldown({ input: join(folder, input), platform: "node", external: /^node:/u })
    await bundle.write({ format: "es", dir: join(folder, dir) })
    await bundle.close()
  })

const INSTALLED_BYTES_MAX = 81 * MEGABYTE

/** Prints the URLs of what a program loads with these imports. */
const loadedBy = (imports: ReadonlyArray<string>): string => `import { registerHooks } from "node:module"
const urls = []
registerHooks({ load: (url, context, next) => { urls.push(url); return next(url, context) } })
${imports.map((name) => `await import("${name}")`).join("\n")}
console.log(JSON.stringify(urls.filter((url) => url.startsWith("file:"))))
`

const loading = Effect.fnUntraced(function* ({ node, write }: App, imports: ReadonlyArray<string>) {
  yield* write("loaded.mjs", loadedBy(imports))
  const { code, output } = yield* node("loaded.mjs")
  assert.strictEqual(code, 0, output)
  return JSON.parse(output) as ReadonlyArray<string>
})

const textsOf = (urls: ReadonlyArray<string>) =>
  Effect.promise(() => Promise.all(urls.map((url) => readFile(new URL(url), "utf8"))))

const charsIn = (texts: ReadonlyArray<string>): number => texts.reduce((total, { length }) => total + length, 0)

export const publishedSuite = (it: Vitest.MethodsNonLive<PackedPackage>): void => {
  it.effect("has no problems for publint", () =>
    Effect.gen(function* () {
      const { tarball } = yield* PackedPackage
      const messages = yield* Effect.promise(async () => {
        const data = await readFile(tarball)
        const { messages } = await publint({
          pack: { tarball: data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength) as ArrayBuffer },
          strict: true
        })
        return messages.map((message) => formatMessage(message, manifest as never))
      })
      assert.deepStrictEqual(messages, [])
    })
  )

  it.effect("has types that agree with its modules, for attw", () =>
    Effect.gen(function* () {
      const { tarball } = yield* PackedPackage
      const found = yield* Effect.promise(async () =>
        checkPackage(createPackageFromTarballData(new Uint8Array(await readFile(tarball))))
      )
      assert.notStrictEqual(found.types, false)
      const problems = "problems" in found ? found.problems : []
      // It has modules only, and no paths without \`exports\`: what \`attw --profile esm-only\` ignores.
      const ignored = problems.filter(
        (problem) =>
          problem.kind === "CJSResolvesToESM" ||
          ("resolutionKind" in problem && /^node(?:10|16-cjs)$/u.test(problem.resolutionKind))
      )
      assert.deepStrictEqual(
        problems.filter((problem) => !ignored.includes(problem)),
        []
      )
    })
  )

  it.effect("is installed with its required packages in less than 81 MB, without another Node", () =>
    Effect.gen(function* () {
      const { bare } = yield* PackedPackage
      const places = yield* Effect.promise(() => installedFor(required))
      assert.notInclude([...places], "node_modules/node")
      const sizes = yield* Effect.promise(() =>
        Promise.all([
          bytesIn(join(bare.folder, "node_modules/agent-tool-billing")),
          ...[...places].map((place) => bytesIn(join(projectRoot, place)))
        ])
      )
      const bytes = sizes.reduce((total, one) => total + one, 0)
      assert.isAbove(bytes, MEGABYTE)
      assert.isBelow(bytes, INSTALLED_BYTES_MAX)
    })
  )

  it.effect("loads no library but effect for a core in memory, and less code than effect alone", () =>
    Effect.gen(function* () {
      const { bare } = yield* PackedPackage
      const urls = yield* loading(bare, ["agent-tool-billing/core", "agent-tool-billing/memory"])
      const libraries = urls.flatMap((url) => /.*\/node_modules\/((?:@[\w.-]+\/)?[\w.-]+)\//u.exec(url)?.[1] ?? [])
      assert.deepStrictEqual([...new Set(libraries)].toSorted(), ["agent-tool-billing", "effect"])
      const own = urls.filter((url) => url.includes("/agent-tool-billing/"))
      const texts = yield* textsOf(own)
      assert.deepStrictEqual(
        texts.flatMap(
          (text) => text.match(/^\/\/ adapters\/(?:http|jsonschema\/Ajv|mcp|pdf|redis|site|sql|telemetry).*/mu) ?? []
        ),
        []
      )
      // What an import costs is the code that it loads: docs/embedding.md has the times.
      const effect = yield* loading(bare, ["effect"])
      assert.isAtMost(own.length, OWN_MODULES_MAX)
      assert.isBelow(charsIn(yield* textsOf(urls)), charsIn(yield* textsOf(effect)))
    })
  )

  it.effect("is bundled as small as its parts: a core in memory, a ledger alone, and a pure calculation", () =>
    Effect.gen(function* () {
      const { bare } = yield* PackedPackage
      for (const [program, bytesMax] of Object.entries(BUNDLES)) {
        yield* bare.write("bundled.mjs", program)
        const bundle = yield* Effect.promise(() =>
          rolldown({ input: join(bare.folder, "bundled.mjs"), platform: "node", external: /^node:/u })
        )
        const { output } = yield* Effect.promise(() => bundle.generate({ format: "es", minify: true }))
        yield* Effect.promise(() => bundle.close())
        const chunks = new Map(
          output.flatMap((file) => (file.type === "chunk" ? [[file.fileName, file] as const] : []))
        )
        const first = new Set([output[0].fileName])
        for (const name of first) for (const next of chunks.get(name)?.imports ?? []) first.add(next)
        const bytes = [...first].reduce((total, name) => total + Buffer.byteLength(chunks.get(name)?.code ?? ""), 0)
        assert.isAbove(bytes, bytesMax / 4)
        assert.isAtMost(bytes, bytesMax, program)
      }
    })
  )

  it.effect("compiles JSON Schemas in a bundle only if the worker thread is bundled beside it", () =>
    Effect.gen(function* () {
      const { bare } = yield* PackedPackage
      yield* bare.write("main.js", SCHEMA_PROGRAM)
      yield* bundledTo(bare, "main.js", "build/server/app")
      const alone = yield* bare.node("build/server/app/main.js")
      assert.notStrictEqual(alone.code, 0)
      assert.include(alone.output, "Cannot find module")
      yield* bundledTo(bare, `node_modules/${manifest.name}/dist/${THREAD}`, `build/${dirname(THREAD)}`)
      assert.deepStrictEqual(yield* bare.node("build/server/app/main.js"), { code: 0, output: "valid\n" })
    })
  )
}
