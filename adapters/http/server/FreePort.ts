/**
 * Port 0 asks the system for any free port. Links in responses contain the port, so it is chosen before the service is
 * built. If another process takes the port in between, listening fails with an error.
 */
import { Effect } from "effect"
import { createServer } from "node:net"
import { CannotListen } from "./NodeServer.ts"

export const portToListenOn = (host: string, port: number): Effect.Effect<number, CannotListen> =>
  port === 0 ? freePort(host) : Effect.succeed(port)

const freePort = (host: string): Effect.Effect<number, CannotListen> =>
  Effect.callback((resume) => {
    const server = createServer()
    server.once("error", (error: NodeJS.ErrnoException) =>
      resume(Effect.fail(new CannotListen({ host, port: 0, code: error.code ?? error.message })))
    )
    server.listen({ host, port: 0 }, () => {
      const address = server.address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      server.close(() => resume(Effect.succeed(port)))
    })
  })
