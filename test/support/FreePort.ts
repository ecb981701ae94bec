/**
 * A port for a process that a test starts: below those that the system gives to whoever asks for any, and so not taken by
 * the next connection or server before the process has come to listen there. Each worker has ports of its own and takes
 * them in turn: none is given out again while the process that was stopped on it is yet to come back.
 */
import { Effect } from "effect"
import { randomInt } from "node:crypto"
import { createServer } from "node:net"

const LOWEST = 20_000
const SYSTEMS_OWN_FROM = 32_768
const WORKERS_MAX = 16
const PORTS_OF_A_WORKER = Math.floor((SYSTEMS_OWN_FROM - LOWEST) / WORKERS_MAX)

/** As Vitest counts them, from 1. */
const worker = Number(process.env["VITEST_POOL_ID"] ?? 0) % WORKERS_MAX
let taken = randomInt(PORTS_OF_A_WORKER)

export const freePort: Effect.Effect<number> = Effect.callback<number>((resume) => {
  const attempt = () => {
    const port = LOWEST + worker * PORTS_OF_A_WORKER + (taken++ % PORTS_OF_A_WORKER)
    const server = createServer().once("error", attempt)
    server.listen(port, "127.0.0.1", () => server.close(() => resume(Effect.succeed(port))))
  }
  attempt()
})
