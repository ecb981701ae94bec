/**
 * Runs one of PostgreSQL's tools until it ends: in its own session, so that Ctrl-C in a terminal does not reach it,
 * with limits on time and output. An interruption of the fiber kills the tool with all its children.
 */
import { Context, Effect } from "effect"
import { spawn } from "node:child_process"

/** The operating system account that PostgreSQL runs as. */
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
  readonly onProcess?: () => void
}

export interface Outcome {
  readonly ok: boolean
  /** The end of the output. */
  readonly output: string
}

/** Called when a process runs that takes a while: the caller can use that time. */
export const OnProcess = Context.Reference<() => void>("agent-tool-billing/adapters/sql/embedded/OnProcess", {
  defaultValue: () => () => undefined
})

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
