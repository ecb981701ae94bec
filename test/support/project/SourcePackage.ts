/**
 * An app beside the repository, in which the package is its sources: programs of the documents run as users write them,
 * without packing.
 */
import { Context, Effect, Layer, type Scope } from "effect"
import { execFile, fork } from "node:child_process"
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import manifest from "../../../package.json" with { type: "json" }
import { projectRoot } from "./PlantedProject.ts"

const RUN_MS_MAX = 240_000
const OUTPUT_BYTES_MAX = 16 * 1024 * 1024

export interface Ran {
  readonly code: number
  readonly output: string
}

export class SourcePackage extends Context.Service<
  SourcePackage,
  {
    write(name: string, text: string): Effect.Effect<void>
    /** With this Node, in the app's folder. */
    node(...args: ReadonlyArray<string>): Effect.Effect<Ran>
    readonly typeCheck: Effect.Effect<Ran>
    /** One process that runs programs, one after the other, each with variables of its own. Succeeds with the error, or "". */
    readonly runner: Effect.Effect<
      (name: string, variables: Readonly<Record<string, string>>) => Effect.Effect<string>,
      never,
      Scope.Scope
    >
  }
>()("agent-tool-billing/test/support/SourcePackage") {
  static readonly layer = Layer.effect(
    SourcePackage,
    Effect.gen(function* () {
      const app = yield* Effect.acquireRelease(
        Effect.promise(() => mkdtemp(join(tmpdir(), "agent-tool-billing-sources-"))),
        (folder) => Effect.promise(() => rm(folder, { recursive: true }))
      )
      const write = (name: string, text: string) => Effect.promise(() => writeFile(join(app, name), text))
      yield* Effect.promise(async () => {
        const installed = join(app, "node_modules", manifest.name)
        await mkdir(installed, { recursive: true })
        await symlink(projectRoot, join(installed, "root"), "junction")
        const { name } = manifest
        await writeFile(join(installed, "package.json"), JSON.stringify({ name, type: "module", exports: sources }))
        for (const dependency of ["effect", "stripe", "@types"]) {
          const from = join(projectRoot, "node_modules", dependency)
          await symlink(from, join(app, "node_modules", dependency), "junction")
        }
      })
      yield* write("package.json", `{ "private": true, "type": "module" }\n`)
      yield* write("tsconfig.json", JSON.stringify({ compilerOptions, include: ["*.ts"] }))
      yield* write("runner.js", RUNNER)
      return SourcePackage.of({
        runner: running(app),
        write,
        node: (...args) => run(app, args),
        typeCheck: run(app, [join(projectRoot, "node_modules/@typescript/native/bin/tsc"), "-p", "."])
      })
    })
  )
}

/** "./dist/testing/index.js" is built from "testing/index.ts". */
const sourceOf = (target: string | null): string | null =>
  target?.replace("./dist/", "./root/").replace(/\.js$/u, ".ts") ?? null

const sources = Object.fromEntries(Object.entries(manifest.exports).map(([name, target]) => [name, sourceOf(target)]))

const compilerOptions = {
  target: "ES2024",
  module: "NodeNext",
  lib: ["ES2025", "DOM", "DOM.Iterable"],
  types: ["node"],
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noUnusedLocals: true,
  allowImportingTsExtensions: true,
  resolveJsonModule: true,
  skipLibCheck: true,
  noEmit: true
}

const RUNNER = `
process.on("message", ({ name, variables }) => {
  Object.assign(process.env, variables)
  import("./" + name).then(() => process.send(""), (error) => process.send(String(error)))
})
`

/** Programs load the same modules one after the other: they share what Node has compiled. */
const env = {
  PATH: process.env["PATH"],
  HOME: process.env["HOME"],
  NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"]
}

const running = Effect.fnUntraced(function* (cwd: string) {
  const child = yield* Effect.acquireRelease(
    Effect.sync(() => fork("runner.js", { cwd, env, execArgv: [], stdio: ["ignore", "ignore", "inherit", "ipc"] })),
    (started) => Effect.sync(() => started.kill("SIGKILL"))
  )
  return (name: string, variables: Readonly<Record<string, string>>) =>
    Effect.callback<string>((resume) => {
      const ended = () => resume(Effect.succeed("the process ended"))
      child.once("exit", ended)
      child.once("message", (error) => {
        child.off("exit", ended)
        resume(Effect.succeed(String(error)))
      })
      child.send({ name, variables })
    })
})

const run = (cwd: string, args: ReadonlyArray<string>): Effect.Effect<Ran> =>
  Effect.callback((resume) => {
    const options = { cwd, env, maxBuffer: OUTPUT_BYTES_MAX, timeout: RUN_MS_MAX }
    const child = execFile(process.execPath, args, options, (error, stdout, stderr) =>
      resume(Effect.succeed({ code: error === null ? 0 : Number(error.code ?? -1), output: stdout + stderr }))
    )
    return Effect.sync(() => child.kill("SIGKILL"))
  })
