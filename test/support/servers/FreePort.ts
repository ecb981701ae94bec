/**
 * A port for a process that a test starts: below the range that the system assigns, so that no other connection or
 * server takes it before the process listens there. Each worker uses its own ports in turn: none is used again while
 * a stopped process may restart on it.
 */
import { Effect } from "effect"
import { randomInt } from "node:crypto"
import { createServer } from "node:net"

const LOWEST = 20_000
const SYSTEMS_OWN_FROM = 32_768
const WORKERS_MAX = 16
const PORTS_OF_A_WORKER = Math.floor((SYSTEMS_OWN_FROM - LOWEST) / WORKERS_MAX)

/** Vitest counts from 1. */
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
