/**
 * Runs one of PostgreSQL's tools until it ends: in its own session, so that Ctrl-C in a terminal does not reach it,
 * with limits on time and output. An interruption of the fiber kills the tool with all its children.
 */
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { lstat, readFile, stat } from "node:fs/promises"
import { dirname } from "node:path"
import { NoServerAccount } from "./EmbeddedPostgresError.ts"

/** The operating system account that PostgreSQL runs as. */
export interface ServerAccount {
  readonly uid: number
  readonly gid: number
}

interface Command {
  readonly file: string
  readonly args: ReadonlyArray<string>
  readonly folder: string
  readonly account: ServerAccount | undefined
  readonly input?: string
  readonly secondsMax: number
  readonly onProcess?: (() => void) | undefined
}

interface Outcome {
  readonly ok: boolean
  /** The end of the output. */
  readonly output: string
}

const OUTPUT_CHARS_MAX = 8_192

/** The environment of every PostgreSQL process: messages in English, and no variables of the service. */
export const environment: Readonly<Record<string, string>> = { LC_ALL: "C", PATH: "/usr/bin:/bin:/usr/sbin:/sbin" }

export const identity = (account: ServerAccount | undefined): { readonly uid?: number; readonly gid?: number } =>
  account === undefined ? {} : { uid: account.uid, gid: account.gid }

export const run = (command: Command): Effect.Effect<Outcome> =>
  Effect.callback<Outcome>((resume) => {
    let output = ""
    const finish = (ok: boolean) => resume(Effect.succeed({ ok, output: output.trim() }))
    const child = spawn(command.file, command.args, {
      cwd: command.folder,
      env: environment,
      detached: true,
      stdio: "pipe",
      ...identity(command.account)
    })
    const keep = (chunk: Buffer) => {
      output = (output + chunk.toString("utf8")).slice(-OUTPUT_CHARS_MAX)
    }
    child.stdout.on("data", keep)
    child.stderr.on("data", keep)
    child.stdin.on("error", () => undefined)
    child.on("error", (cause) => {
      output += cause.message
      finish(false)
    })
    child.on("close", (code) => finish(code === 0))
    child.stdin.end(command.input ?? "")
    command.onProcess?.()
    return Effect.sync(() => killGroup(child.pid))
  }).pipe(
    Effect.timeoutOrElse({
      duration: `${command.secondsMax} seconds`,
      orElse: () => Effect.succeed({ ok: false, output: `it did not end within ${command.secondsMax} seconds` })
    })
  )

const killGroup = (pid: number | undefined): void => {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL")
  } catch {
    // The process has already ended.
  }
}

// PostgreSQL does not run as root. A service that runs as root starts it as another account, which owns only the
// cluster folder. Any other service starts it as its own account.

const MADE_ACCOUNT = "agent-tool-billing"

/** The first one that exists is taken. `nobody` is the fallback on a machine where no account can be created. */
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

/** Permissions on the path prevent the account from entering the folder or executing the file. */
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
