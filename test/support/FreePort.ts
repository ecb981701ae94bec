/**
 * A port for a process that a test starts: below those that the system gives to whoever asks for any, and so not taken by
 * the next connection or server before the process has come to listen there.
 */
import { Effect } from "effect"
import { randomInt } from "node:crypto"
import { createServer } from "node:net"

const LOWEST = 20_000
const SYSTEMS_OWN_FROM = 32_768

export const freePort: Effect.Effect<number> = Effect.callback<number>((resume) => {
  const attempt = () => {
    const port = randomInt(LOWEST, SYSTEMS_OWN_FROM)
    const server = createServer().once("error", attempt)
    server.listen(port, "127.0.0.1", () => server.close(() => resume(Effect.succeed(port))))
  }
  attempt()
})
