/**
 * `npm start`, ended by a shell, a terminal or a supervisor: no process of it is left, the database included.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Schedule } from "effect"
import { existsSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { eventually } from "../support/mcp/McpClient.ts"
import { ready } from "../support/servers/ServiceProcess.ts"

const ROOT = join(import.meta.dirname, "../..")

const folder = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "signals-"))),
  (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
)

const refuses = (url: string) => {
  const state = { refused: false }
  const look = (): void => {
    const socket = connect({ host: "127.0.0.1", port: Number(new URL(url).port) })
    socket.on("connect", () => socket.destroy())
    socket.on("error", () => (state.refused = true))
  }
  return () => {
    look()
    return state.refused
  }
}

const started = (settings: Readonly<Record<string, string>>) =>
  ready(settings, { command: ["npm", "start"], cwd: ROOT })

it.live(
  "SIGTERM to npm stops the service and its database",
  () =>
    Effect.gen(function* () {
      const DATA_DIR = yield* folder
      const { pid, url } = yield* started({ DATA_DIR })
      const running = join(DATA_DIR, "postgres", "postmaster.pid")
      assert.isTrue(existsSync(running), running)
      process.kill(pid, "SIGTERM")
      yield* eventually(refuses(url), 60_000)
      yield* eventually(() => !existsSync(running), 60_000)
    }),
  240_000
)

/** A terminal sends an interrupt to all processes of its job; a supervisor sends it to npm alone. */
const ends = [
  ["SIGINT to npm alone", "SIGINT", 1],
  ["SIGINT to npm and its whole job", "SIGINT", -1],
  ["SIGHUP to npm", "SIGHUP", 1],
  ["SIGKILL of npm", "SIGKILL", 1]
] as const

for (const [title, signal, sign] of ends) {
  it.live(
    `${title} stops the service`,
    () =>
      Effect.gen(function* () {
        const { pid, url } = yield* started({ PROFILE: "memory" })
        process.kill(sign * pid, signal)
        yield* eventually(refuses(url), 60_000)
      }),
    240_000
  )
}

it.live(
  "the service outlives the shell that npm was started from",
  () =>
    Effect.gen(function* () {
      const { child, pid, url } = yield* ready(
        { PROFILE: "memory" },
        // The shell ends once the service is ready.
        { command: ["bash", "-c", 'npm start & until curl -sf "localhost:$PORT/livez"; do sleep 0.1; done'], cwd: ROOT }
      )
      // npm and the service are left of the shell's job, and nothing else ends them.
      yield* Effect.addFinalizer(() => Effect.ignore(Effect.try(() => process.kill(-pid, "SIGTERM"))))
      yield* eventually(() => child.exitCode !== null, 60_000)
      // Long enough to notice that a process has ended.
      yield* Effect.sleep("2 seconds")
      assert.strictEqual((yield* Effect.promise(() => fetch(`${url}/livez`))).status, 200)
      process.kill(-pid, "SIGTERM")
      yield* eventually(refuses(url), 60_000)
    }),
  240_000
)

it.live(
  "several SIGHUPs stop the service gracefully, as one does",
  () =>
    Effect.gen(function* () {
      const { exit, pid } = yield* ready({ PROFILE: "memory" })
      const again = yield* Effect.forkChild(
        Effect.repeat(
          Effect.sync(() => process.kill(pid, "SIGHUP")),
          Schedule.spaced("5 millis")
        ).pipe(Effect.ignoreCause)
      )
      const code = yield* exit
      yield* Fiber.interrupt(again)
      assert.notStrictEqual(code, "SIGHUP")
    }),
  240_000
)
