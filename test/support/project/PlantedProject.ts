/**
 * A small project under this one's own rules, with files that a test plants in it, and the output of its checks.
 */
import { Effect, Schema } from "effect"
import { execFile } from "node:child_process"
import { copyFile, cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

export const projectRoot = fileURLToPath(new URL("../../..", import.meta.url))

/** Path to text. */
export type Files = Readonly<Record<string, string>>

export interface Complaint {
  readonly file: string
  /** `eslint(no-console)`, `effect(globalDate)` */
  readonly rule: string
}

const OUTPUT_BYTES_MAX = 16 * 1024 * 1024

export const lint = Effect.fnUntraced(function* (files: Files) {
  const folder = yield* planted(files)
  const output = yield* run(folder, process.execPath, tool("oxlint/bin/oxlint"), "-f", "json")
  const { diagnostics } = yield* decodeLint(output)
  return diagnostics.map(({ filename, code }): Complaint => ({ file: filename, rule: code }))
}, Effect.scoped)

/** The output of a test run over these files, with the reporter of this project. */
export const testRun = Effect.fnUntraced(function* (files: Files) {
  const folder = yield* plantedSuite(files)
  return yield* run(folder, process.execPath, tool("vitest/vitest.mjs"), "run")
}, Effect.scoped)

/** The same under `npm run test:ci`, which may repeat a file. */
export const repeatingTestRun = Effect.fnUntraced(function* (files: Files) {
  const folder = yield* plantedSuite(files)
  return yield* ended(folder, process.execPath, join(projectRoot, "test/support/suite/main.ts"))
}, Effect.scoped)

const plantedSuite = Effect.fnUntraced(function* (files: Files) {
  const reporter = JSON.stringify(join(projectRoot, "test/support/ClosingLine.ts"))
  const config = `export default { cacheDir: ".cache", test: { reporters: [${reporter}] } }\n`
  const folder = yield* planted({ ...files, "vitest.config.mjs": config })
  yield* linkPackages(folder)
  return folder
})

export const compile = Effect.fnUntraced(function* (files: Files) {
  const folder = yield* planted(files)
  yield* linkPackages(folder)
  const compiler = yield* run(projectRoot, process.execPath, tool("@effect/tsgo/dist/effect-tsgo.cjs"), "get-exe-path")
  const output = yield* run(folder, compiler.trim(), "-p", "tsconfig.json", "--pretty", "false")
  return output.split(/\n(?=\S+\(\d+,\d+\): )/u).flatMap((text): ReadonlyArray<Complaint> => {
    const { file, code, rule = code } = complaintShape.exec(text)?.groups ?? {}
    return file === undefined || rule === undefined ? [] : [{ file, rule }]
  })
}, Effect.scoped)

const complaintShape = /^(?<file>[^(]+)\(\d+,\d+\): (?:error|warning) (?<code>TS\d+):.*?(?<rule>effect\(\w+\))?\s*$/su

const SOURCES = ["adapters", "client", "domain", "migrations", "src"]

/** What the compiler says of this project's own service after these edits, each of which replaces a text that is there. */
export const compileEdited = Effect.fnUntraced(function* (
  edits: ReadonlyArray<readonly [file: string, text: string, replacement: string]>
) {
  const folder = yield* planted({})
  yield* linkPackages(folder)
  yield* Effect.promise(async () => {
    for (const name of SOURCES) await cp(join(projectRoot, name), join(folder, name), { recursive: true })
    for (const [file, text, replacement] of edits) {
      const before = await readFile(join(folder, file), "utf8")
      if (!before.includes(text)) throw new Error(`${file} does not contain ${text}`)
      await writeFile(join(folder, file), before.replace(text, replacement))
    }
    const config = { extends: "./tsconfig.json", include: [], files: ["src/entries/service.ts"] }
    await writeFile(join(folder, "tsconfig.edited.json"), JSON.stringify(config))
  })
  const compiler = yield* run(projectRoot, process.execPath, tool("@effect/tsgo/dist/effect-tsgo.cjs"), "get-exe-path")
  return yield* run(folder, compiler.trim(), "-p", "tsconfig.edited.json", "--pretty", "false")
}, Effect.scoped)

const decodeLint = Schema.decodeEffect(
  Schema.fromJsonString(
    Schema.Struct({ diagnostics: Schema.Array(Schema.Struct({ filename: Schema.String, code: Schema.String })) })
  )
)

const tool = (path: string): string => join(projectRoot, "node_modules", path)

const linkPackages = (folder: string) =>
  Effect.promise(() => symlink(tool(""), join(folder, "node_modules"), "junction"))

const planted = (files: Files) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const folder = await mkdtemp(join(tmpdir(), "agent-tool-billing-planted-"))
      for (const name of [".oxlintrc.json", "tsconfig.json", "package.json"]) {
        await copyFile(join(projectRoot, name), join(folder, name))
      }
      for (const [name, text] of Object.entries(files)) {
        await mkdir(dirname(join(folder, name)), { recursive: true })
        await writeFile(join(folder, name), text)
      }
      return folder
    }),
    (folder) => Effect.promise(() => rm(folder, { recursive: true }))
  )

/** Its output; it exits with an error because it found something. */
const run = (cwd: string, file: string, ...args: ReadonlyArray<string>): Effect.Effect<string> =>
  Effect.map(ended(cwd, file, ...args), ({ output }) => output)

interface Ended {
  readonly code: number
  readonly output: string
}

const ended = (cwd: string, file: string, ...args: ReadonlyArray<string>): Effect.Effect<Ended> =>
  Effect.callback((resume) => {
    const env = { PATH: process.env["PATH"] }
    const child = execFile(file, args, { cwd, env, maxBuffer: OUTPUT_BYTES_MAX }, (error, output) =>
      resume(Effect.succeed({ code: error === null ? 0 : Number(error.code), output }))
    )
    return Effect.sync(() => child.kill())
  })
