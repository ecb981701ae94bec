/**
 * `npm start`, ended as a shell, a terminal or a supervisor ends it: no process of it is left, the database included.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { eventually } from "../support/mcp/upstream.ts"
import { ready } from "../support/ServiceProcess.ts"

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

for (const signal of ["SIGINT", "SIGHUP", "SIGKILL"] as const) {
  it.live(
    `${signal} to npm, or its job, stops the service`,
    () =>
      Effect.gen(function* () {
        const { pid, url } = yield* started({ PROFILE: "memory" })
        // A terminal sends an interrupt to all processes of its job.
        process.kill(signal === "SIGINT" ? -pid : pid, signal)
        yield* eventually(refuses(url), 60_000)
      }),
    240_000
  )
}
