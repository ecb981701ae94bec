/**
 * A real Redis on loopback, where the machine has one.
 */
import { Effect } from "effect"
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { freePort } from "./FreePort.ts"

export const NO_REDIS = "there is no redis-server on this machine (Debian and Ubuntu: apt-get install redis-server)"

export const isRedisHere = (): boolean => spawnSync("redis-server", ["--version"]).status === 0

export const redisServerOn = Effect.fnUntraced(function* (port: number) {
  const folder = yield* Effect.acquireRelease(
    Effect.promise(() => mkdtemp(join(tmpdir(), "agent-tool-billing-redis-"))),
    (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
  )
  const server = yield* Effect.acquireRelease(
    Effect.sync(() => spawn("redis-server", argumentsOf(folder, port), { stdio: ["ignore", "pipe", "inherit"] })),
    stop
  )
  yield* untilReady(server)
  return {
    url: `redis://127.0.0.1:${port}`,
    signal: (name: NodeJS.Signals) => Effect.sync(() => void server.kill(name))
  }
})

export const redisServer = Effect.flatMap(freePort, redisServerOn)

const argumentsOf = (folder: string, port: number) =>
  ["--bind 127.0.0.1", `--port ${port}`, `--dir ${folder}`, "--save ''", "--appendonly no"].flatMap((option) => {
    const [name = "", value = ""] = option.split(/ (.*)/u)
    return [name, value === "''" ? "" : value]
  })

const untilReady = (server: ChildProcess) =>
  Effect.callback<void>((resume) => {
    let output = ""
    server.stdout?.on("data", (chunk: Buffer) => {
      output += chunk.toString("utf8")
      if (output.includes("Ready to accept connections")) resume(Effect.void)
    })
    server.once("exit", () => resume(Effect.die(new Error(`Redis did not start: ${output}`))))
  })

const stop = (server: ChildProcess) =>
  Effect.callback<void>((resume) => {
    if (server.exitCode !== null || server.signalCode !== null) return resume(Effect.void)
    server.once("exit", () => resume(Effect.void))
    server.kill("SIGKILL")
  })
