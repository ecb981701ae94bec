/**
 * PostgreSQL's own tools for backups, where the machine has them: the project includes only the server.
 */
import { Effect, type Redacted, Redacted as Secret } from "effect"
import { existsSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { run } from "../../../adapters/sql/embedded/Command.ts"

const HOMES = ["/usr/lib/postgresql", "/opt/homebrew/opt", "/usr/local/opt"]
const NEEDED = ["initdb", "postgres", "pg_dump", "pg_restore", "pg_basebackup"]
const OLDEST_VERSION = 15
const SECONDS_MAX = 60

export const NO_TOOLS =
  "there are no PostgreSQL server and tools of one version on this machine (Debian and Ubuntu: apt-get install postgresql)"

/** The folder with the newest server that has its tools beside it. */
export const toolsHere = (): string | undefined =>
  HOMES.filter((home) => existsSync(home))
    .flatMap((home) => readdirSync(home).map((name) => ({ folder: join(home, name, "bin"), version: versionIn(name) })))
    .filter(
      ({ folder, version }) => version >= OLDEST_VERSION && NEEDED.every((name) => existsSync(join(folder, name)))
    )
    .toSorted((a, b) => b.version - a.version)[0]?.folder

/** `15`, or `postgresql@17` */
const versionIn = (name: string): number => Number(/^(?:postgresql@)?(?<version>\d+)$/u.exec(name)?.groups?.["version"])

/** Runs one of them against a database; fails with its output. */
export const tool = Effect.fnUntraced(function* (file: string, database: Redacted.Redacted, ...args: Array<string>) {
  const dbname = `--dbname=${Secret.value(database)}`
  const { ok, output } = yield* run({
    file,
    args: [...args, dbname],
    folder: "/",
    account: undefined,
    secondsMax: SECONDS_MAX
  })
  if (!ok) return yield* Effect.die(new Error(`${file} ${args.join(" ")}: ${output}`))
})
