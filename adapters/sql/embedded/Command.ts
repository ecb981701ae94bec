/**
 * Runs one of PostgreSQL's tools to its end: in a session of its own, so that a terminal's Ctrl-C does not reach it,
 * bounded in time and output, and killed with all its children when the fiber is interrupted.
 */
import { Effect } from "effect"
import { spawn } from "node:child_process"

/** The account of the operating system that PostgreSQL runs as. */
export interface ServerAccount {
  readonly uid: number
  readonly gid: number
}

export interface Command {
  readonly file: string
  readonly args: ReadonlyArray<string>
  readonly folder: string
  readonly account: ServerAccount | undefined
  readonly input?: string
  readonly secondsMax: number
}

export interface Outcome {
  readonly ok: boolean
  /** The end of what it wrote. */
  readonly output: string
}

const OUTPUT_CHARS_MAX = 8_192

/** What every process of PostgreSQL gets to see of the environment: messages in English, and nothing of ours. */
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
    // It has ended by itself.
  }
}
