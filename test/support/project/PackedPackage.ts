/**
 * The package as users install it: packed by npm from a copy of the sources, unpacked into an empty folder, beside its
 * dependencies and required peers only, or also beside its optional peers.
 */
import { Context, Effect, Layer } from "effect"
import { execFile } from "node:child_process"
import { readFileSync } from "node:fs"
import { cp, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import manifest from "../../../package.json" with { type: "json" }
import { projectRoot } from "./PlantedProject.ts"

const IGNORED = readFileSync(join(projectRoot, "docs/operations/Containerfile.dockerignore"), "utf8").split("\n")
/** Of the tests, what the container file copies into its build: the generator of what is not committed. */
const GENERATOR = IGNORED.filter((line) => line.startsWith("!")).map((line) => line.slice(1))
/** As in a fresh clone, the package must be complete without them. */
const GENERATED = ["client/Contract.ts", "docs/api.md"]
const PACKED = ["src", "domain", "adapters", "client", "migrations", "testing", "docs", ...GENERATOR]
const BESIDE = [
  "package.json",
  "rolldown.config.ts",
  "tsconfig.json",
  "tsconfig.build.json",
  "CHANGELOG.md",
  "README.md",
  "LICENSE",
  ".npmrc",
  ".oxfmtrc.json",
  ".gitignore"
]

/** Files of a working folder that must not be published. */
const PRIVATE = [".env", "data/receipt-signing-secret", "test/secret.test.ts", "notes.log", "dist/domain/gone/Gone.js"]

/** For the type check only. */
const TYPES = "@types/node"
/** Used by a program of docs/clients.md. */
const FOR_PROGRAMS = ["@modelcontextprotocol/server"]
/** The compiler takes 40 s of CPU time to pack. */
const RUN_MS_MAX = 600_000
const OUTPUT_BYTES_MAX = 16 * 1024 * 1024

export interface Ran {
  readonly code: number
  readonly output: string
}

/** A folder with the package among its node_modules. */
export interface App {
  readonly folder: string
  write(name: string, text: string): Effect.Effect<void>
  /** With this Node, in the app's folder. */
  node(...args: ReadonlyArray<string>): Effect.Effect<Ran>
  typeCheck(options: object): Effect.Effect<Ran>
}

export class PackedPackage extends Context.Service<
  PackedPackage,
  {
    readonly tarball: string
    /** Of the tarball, sorted. */
    readonly files: ReadonlyArray<string>
    /** Also has the optional packages. */
    readonly app: App
    /** Has what npm installs for a program that names no optional package. */
    readonly bare: App
  }
>()("agent-tool-billing/test/support/PackedPackage") {
  static readonly layer = Layer.effect(
    PackedPackage,
    Effect.gen(function* () {
      const tarball = yield* pack
      const app = yield* appBeside(tarball, [...required, ...optional, ...FOR_PROGRAMS])
      const installed = join(app.folder, INSTALLED)
      const found = yield* Effect.promise(() => readdir(installed, { recursive: true, withFileTypes: true }))
      return PackedPackage.of({
        tarball,
        files: found
          .filter((entry) => entry.isFile())
          .map(({ name, parentPath }) => join(parentPath, name).slice(installed.length + 1))
          .toSorted(),
        app,
        bare: yield* appBeside(tarball, required)
      })
    })
  )
}

const INSTALLED = "node_modules/agent-tool-billing"

const { dependencies, peerDependencies, peerDependenciesMeta } = manifest

export const optional = Object.keys(peerDependenciesMeta)
export const required = [...Object.keys(dependencies), ...Object.keys(peerDependencies)].filter(
  (name) => !optional.includes(name)
)

const appBeside = Effect.fnUntraced(function* (tarball: string, packages: ReadonlyArray<string>) {
  const folder = yield* temporaryFolder
  yield* Effect.promise(() => mkdir(join(folder, INSTALLED), { recursive: true }))
  yield* succeeding(folder, "tar", "-xzf", tarball, "--strip-components=1", "-C", join(folder, INSTALLED))
  for (const name of [...packages, TYPES]) yield* linked(folder, name)
  const write = (name: string, text: string) => Effect.promise(() => writeFile(join(folder, name), text))
  yield* write("package.json", `{ "private": true, "type": "module" }\n`)
  const app: App = {
    folder,
    write,
    node: (...args) => run(folder, process.execPath, ...args),
    typeCheck: (compilerOptions) =>
      Effect.andThen(
        write("tsconfig.json", JSON.stringify({ compilerOptions, include: ["*.ts"] })),
        run(folder, process.execPath, join(projectRoot, "node_modules/@typescript/native/bin/tsc"), "-p", ".")
      )
  }
  return app
})

const temporaryFolder = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "agent-tool-billing-packed-"))),
  (folder) => Effect.promise(() => rm(folder, { recursive: true }))
)

/** From a copy, so that the repository's own `dist` and its concurrent users do not interfere. */
const pack = Effect.gen(function* () {
  const copy = yield* temporaryFolder
  yield* Effect.promise(async () => {
    for (const name of [...PACKED, ...BESIDE]) {
      await cp(join(projectRoot, name), join(copy, name), { recursive: true })
    }
    for (const name of GENERATED) await rm(join(copy, name), { force: true })
    for (const name of PRIVATE) {
      await mkdir(dirname(join(copy, name)), { recursive: true })
      await writeFile(join(copy, name), "a canary")
    }
  })
  yield* linked(copy, "")
  yield* succeeding(copy, "npm", "pack", "--offline")
  const [tarball] = (yield* Effect.promise(() => readdir(copy))).filter((name) => name.endsWith(".tgz"))
  return join(copy, tarball!)
})

/** A package, or all of them. */
const linked = (folder: string, name: string) =>
  Effect.promise(async () => {
    const place = join(folder, "node_modules", name)
    await mkdir(dirname(place), { recursive: true })
    await symlink(join(projectRoot, "node_modules", name), place.replace(/\/$/u, ""), "junction")
  })

const succeeding = Effect.fnUntraced(function* (cwd: string, file: string, ...args: ReadonlyArray<string>) {
  const { code, output } = yield* run(cwd, file, ...args)
  if (code !== 0) return yield* Effect.die(new Error(`${file} ${args.join(" ")} ended with ${code}:\n${output}`))
})

const run = (cwd: string, file: string, ...args: ReadonlyArray<string>): Effect.Effect<Ran> =>
  Effect.callback((resume) => {
    const env = { PATH: process.env["PATH"], HOME: process.env["HOME"] }
    const options = { cwd, env, maxBuffer: OUTPUT_BYTES_MAX, timeout: RUN_MS_MAX }
    const child = execFile(file, args, options, (error, stdout, stderr) =>
      resume(Effect.succeed({ code: error === null ? 0 : Number(error.code ?? 1), output: stdout + stderr }))
    )
    return Effect.sync(() => child.kill())
  })
