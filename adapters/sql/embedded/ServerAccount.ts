/**
 * PostgreSQL does not run as root. A service that runs as root starts it as another account, which owns only the
 * cluster folder. Any other service starts it as its own account.
 */
import { Effect } from "effect"
import { lstat, readFile, stat } from "node:fs/promises"
import { dirname } from "node:path"
import { run, type ServerAccount } from "./Command.ts"
import { NoServerAccount } from "./EmbeddedPostgresError.ts"

const MADE_ACCOUNT = "agent-tool-billing"

/** In order of preference. `nobody` is the fallback on a machine where no account can be created. */
const usual = ["postgres", "_postgres", MADE_ACCOUNT]

/** `undefined` is the account of the service. An existing cluster keeps the account that owns it. */
export const serverAccount = Effect.fnUntraced(function* (clusterFolder: string) {
  if (process.getuid?.() !== 0) return undefined
  const owner = yield* ownerOf(clusterFolder)
  if (owner !== undefined && owner.uid !== 0) return owner
  const known = yield* accountNamed(usual)
  if (known !== undefined) return known
  yield* makeAccount
  const made = yield* accountNamed([MADE_ACCOUNT, "nobody"])
  if (made === undefined) return yield* new NoServerAccount()
  return made
})

/** Whether permissions on the path prevent the account from entering the folder or executing the file. */
export const closedTo = (path: string, account: ServerAccount | undefined): Effect.Effect<boolean> =>
  account === undefined
    ? Effect.succeed(false)
    : Effect.tryPromise(async () => {
        for (let here = path; ; here = dirname(here)) {
          const { uid, gid, mode } = await stat(here)
          const shift = uid === account.uid ? 6 : gid === account.gid ? 3 : 0
          if (((mode >> shift) & 1) === 0) return true
          if (here === dirname(here)) return false
        }
      }).pipe(Effect.orElseSucceed(() => false))

const ownerOf = (folder: string): Effect.Effect<ServerAccount | undefined> =>
  Effect.tryPromise(() => lstat(folder)).pipe(
    Effect.map(({ uid, gid }) => ({ uid, gid })),
    Effect.orElseSucceed(() => undefined)
  )

const accountNamed = (names: ReadonlyArray<string>): Effect.Effect<ServerAccount | undefined> =>
  Effect.tryPromise(() => readFile("/etc/passwd", "utf8")).pipe(
    Effect.orElseSucceed(() => ""),
    Effect.map((text) => {
      const lines = text.split("\n").map((line) => line.split(":"))
      const accounts = names
        .flatMap((name) => lines.filter((fields) => fields[0] === name))
        .map((fields) => ({ uid: Number(fields[2]), gid: Number(fields[3]) }))
      return accounts.find(({ uid, gid }) => uid > 0 && gid >= 0)
    })
  )

const makeAccount = run({
  file: "useradd",
  args: [
    "--system",
    "--user-group",
    "--no-create-home",
    "--home-dir",
    "/nonexistent",
    "--shell",
    "/bin/false",
    MADE_ACCOUNT
  ],
  folder: "/",
  account: undefined,
  secondsMax: 20
})
