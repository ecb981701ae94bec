/**
 * The service in a process of its own, as users run it: started, read, stopped and killed.
 */
import { Effect, type Scope } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { isAlive } from "./EmbeddedFolders.ts"
import { freePort } from "./FreePort.ts"
import { serviceBundle } from "./ServiceBundle.ts"

/** The service from source, as `npm start` runs it. */
export const MAIN = join(import.meta.dirname, "../../../src/main.ts")

export interface Started {
  readonly child: ChildProcess
  readonly pid: number
  readonly output: () => string
  readonly problem: () => string
  /** The code, or the signal that ended it. */
  readonly exit: Effect.Effect<number | NodeJS.Signals>
}

export interface StartOptions {
  readonly settings?: Readonly<Record<string, string>>
  readonly cwd?: string
  /** Instead of the bundle, and without its compiled code: as on a machine that has never started it. */
  readonly command?: readonly [file: string, ...args: ReadonlyArray<string>]
  readonly account?: { readonly uid: number; readonly gid: number }
  /** Its stdin; otherwise it has none. */
  readonly input?: string
}

const READY_SECONDS_MAX = 120
const EXIT_SECONDS_MAX = 120

/** Leads a process group of its own, as a shell's job does; what is left of it is killed in the end. */
export const start = Effect.fnUntraced(function* (
  args: ReadonlyArray<string>,
  { account, command, cwd, input, settings = {} }: StartOptions = {}
): Effect.fn.Return<Started, never, Scope.Scope> {
  const folder = cwd ?? (yield* temporaryFolder)
  const bundle = yield* Effect.promise(serviceBundle)
  const child = yield* Effect.acquireRelease(
    Effect.sync(() =>
      spawn(command?.[0] ?? process.execPath, [...(command?.slice(1) ?? [bundle.main]), ...args], {
        cwd: folder,
        detached: true,
        stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
        env: {
          PATH: process.env["PATH"],
          HOME: process.env["HOME"],
          // A test's catalog has only the tools that it lists.
          DEMO_PROVIDER: "off",
          ...(command === undefined && account === undefined ? { NODE_COMPILE_CACHE: bundle.compiled } : {}),
          ...settings
        },
        ...account
      })
    ),
    killGroup
  )
  const heard = { output: "", problem: "" }
  child.stdin?.end(input)
  child.stdout!.on("data", (chunk: Buffer) => (heard.output += chunk.toString("utf8")))
  child.stderr!.on("data", (chunk: Buffer) => (heard.problem += chunk.toString("utf8")))
  return {
    child,
    pid: child.pid!,
    output: () => heard.output,
    problem: () => heard.problem,
    exit: exitOf(child)
  }
})

/** A service that has logged that it is ready, and how long that took. */
export const ready = Effect.fnUntraced(function* (
  settings: Readonly<Record<string, string>>,
  options: StartOptions = {}
) {
  const port = yield* freePort
  const startedAt = performance.now()
  const given = { PORT: String(port), ...settings }
  const started = yield* start(options.command === undefined ? ["serve"] : [], { ...options, settings: given })
  yield* Effect.callback<void>((resume) => {
    const look = () => {
      if (started.output().includes("is ready at")) resume(Effect.void)
      else if (hasEnded(started.child)) resume(Effect.die(new Error(`It ended: ${started.problem()}`)))
    }
    started.child.stdout!.on("data", look)
    started.child.once("close", look)
  }).pipe(
    Effect.timeoutOrElse({
      duration: `${READY_SECONDS_MAX} seconds`,
      orElse: () => Effect.die(new Error(`It was never ready: ${started.output()} ${started.problem()}`))
    })
  )
  return { ...started, port, url: `http://127.0.0.1:${port}`, readyMs: performance.now() - startedAt }
})

/** The output of a command that ends automatically. */
export const finished = (args: ReadonlyArray<string>, options: StartOptions = {}) =>
  Effect.gen(function* () {
    const started = yield* start(args, options)
    const code = yield* started.exit
    return { code, output: started.output(), problem: started.problem() }
  }).pipe(Effect.scoped)

export const temporaryFolder = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "agent-tool-billing-start-"))),
  (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }))
)

export const json = (url: string, init: RequestInit = {}) =>
  Effect.promise(async () => {
    const response = await fetch(url, init)
    return { status: response.status, body: (await response.json()) as Readonly<Record<string, unknown>> }
  })

export const post = (url: string, body: unknown, key?: string) =>
  json(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` })
    },
    body: JSON.stringify(body)
  })

const hasEnded = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null

const exitOf = (child: ChildProcess): Effect.Effect<number | NodeJS.Signals> =>
  Effect.callback<number | NodeJS.Signals>((resume) => {
    const end = () => resume(Effect.succeed(child.exitCode ?? child.signalCode ?? "SIGKILL"))
    // Reads its pipes to the end first.
    if (hasEnded(child)) return void setTimeout(end, 50)
    child.once("close", end)
  }).pipe(
    Effect.timeoutOrElse({
      duration: `${EXIT_SECONDS_MAX} seconds`,
      orElse: () => Effect.die(new Error(`Process ${child.pid} did not end`))
    })
  )

const killGroup = (child: ChildProcess): Effect.Effect<void> =>
  Effect.sync(() => {
    if (child.pid === undefined || (hasEnded(child) && !isAlive(child.pid))) return
    try {
      process.kill(-child.pid, "SIGKILL")
    } catch {
      // It has ended in between.
    }
  })
