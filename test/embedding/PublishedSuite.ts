/**
 * The tarball by the tools that check packages, and what a program downloads, loads and bundles with it.
 */
import { assert, type Vitest } from "@effect/vitest"
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core"
import { Effect } from "effect"
import { lstat, readdir, readFile, realpath } from "node:fs/promises"
import { join } from "node:path"
import { publint } from "publint"
import { formatMessage } from "publint/utils"
import manifest from "../../package.json" with { type: "json" }
import { PackedPackage, required } from "../support/PackedPackage.ts"
import { projectRoot } from "../support/PlantedProject.ts"

const MEGABYTE = 1_000_000
const OWN_MODULES_MAX = 300
const INSTALLED_BYTES_MAX = 80 * MEGABYTE

interface Locked {
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
}

/** Folders of the packages that npm installs for these, by the lock file. */
const installedFor = async (names: ReadonlyArray<string>): Promise<ReadonlySet<string>> => {
  const { packages } = JSON.parse(await readFile(join(projectRoot, "package-lock.json"), "utf8")) as {
    readonly packages: Readonly<Record<string, Locked>>
  }
  const found = new Set<string>()
  const visit = (name: string, from: string): void => {
    const place = `${from === "" ? "" : `${from}/`}node_modules/${name}`
    if (packages[place] === undefined) {
      if (from !== "") visit(name, from.slice(0, Math.max(0, from.lastIndexOf("/node_modules/"))))
      return
    }
    if (found.has(place)) return
    found.add(place)
    const { dependencies = {}, peerDependencies = {}, peerDependenciesMeta = {} } = packages[place]
    const peers = Object.keys(peerDependencies).filter((peer) => peerDependenciesMeta[peer]?.optional !== true)
    for (const next of [...Object.keys(dependencies), ...peers]) visit(next, place)
  }
  for (const name of names) visit(name, "")
  return found
}

/** As `du --apparent-size`. */
const bytesIn = async (folder: string): Promise<number> => {
  let bytes = 0
  for (const entry of await readdir(await realpath(folder), { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) bytes += (await lstat(join(entry.parentPath, entry.name))).size
  }
  return bytes
}

/** Prints what the entries load, as URLs. */
const LOADED = `import { registerHooks } from "node:module"
const urls = []
registerHooks({ load: (url, context, next) => { urls.push(url); return next(url, context) } })
await import("agent-tool-billing/core")
await import("agent-tool-billing/memory")
console.log(JSON.stringify(urls))
`

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

  it.effect("is installed with its required packages in less than 80 MB, without another Node", () =>
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

  it.effect("loads no library but effect for a core in memory", () =>
    Effect.gen(function* () {
      const { bare } = yield* PackedPackage
      yield* bare.write("loaded.mjs", LOADED)
      const { code, output } = yield* bare.node("loaded.mjs")
      assert.strictEqual(code, 0, output)
      const urls = JSON.parse(output) as ReadonlyArray<string>
      const libraries = urls.flatMap((url) => /.*\/node_modules\/((?:@[\w.-]+\/)?[\w.-]+)\//u.exec(url)?.[1] ?? [])
      assert.deepStrictEqual([...new Set(libraries)].toSorted(), ["agent-tool-billing", "effect"])
      // Loading effect takes about 120 ms of CPU time on two slow cores, each hundred modules of this package 30 ms.
      const own = urls.filter((url) => url.includes("/agent-tool-billing/"))
      assert.isAtMost(own.length, OWN_MODULES_MAX)
      assert.deepStrictEqual(
        own.filter((url) => /\/adapters\/(?:http|jsonschema\/Ajv|mcp|pdf|redis|site|sql|telemetry)/u.test(url)),
        []
      )
    })
  )
}
