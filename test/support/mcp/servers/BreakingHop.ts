/**
 * A TCP hop in front of a service that breaks all of its connections when a test says so, as a network does. Later
 * connections pass.
 */
import { Effect, type Scope } from "effect"
import { type AddressInfo, connect, createServer, type Socket } from "node:net"

export interface BreakingHop {
  readonly port: number
  readonly breakAll: () => void
  /** The requests that resumed a stream, by the id of the event that their client received last. */
  readonly resumed: ReadonlyArray<string>
  /** Parts of streams with an id to resume from, which went to the client. */
  readonly streamed: () => number
}

const EVENT = /^id: /mu
const LAST_EVENT_ID = /last-event-id: ?([^\r\n]+)/giu

export const breakingHop = (port: number): Effect.Effect<BreakingHop, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.callback<BreakingHop & { readonly close: () => void }>((resume) => {
      const open = new Set<Socket>()
      const resumed: Array<string> = []
      let streamed = 0
      const breakAll = () => {
        for (const socket of open) socket.destroy()
      }
      const server = createServer((near) => {
        const far = connect({ host: "127.0.0.1", port })
        far.on("data", (chunk: Buffer) => {
          if (EVENT.test(chunk.toString("latin1"))) streamed++
        })
        near.on("data", (chunk: Buffer) => {
          for (const [, id] of chunk.toString("latin1").matchAll(LAST_EVENT_ID)) resumed.push(id!)
        })
        for (const [from, to] of [
          [near, far],
          [far, near]
        ] as const) {
          open.add(from)
          from.pipe(to)
          from.on("error", () => to.destroy())
          from.on("close", () => {
            open.delete(from)
            to.destroy()
          })
        }
      })
      server.listen(0, "127.0.0.1", () =>
        resume(
          Effect.succeed({
            port: (server.address() as AddressInfo).port,
            breakAll,
            resumed,
            streamed: () => streamed,
            close: () => {
              server.close()
              breakAll()
            }
          })
        )
      )
    }),
    ({ close }) => Effect.sync(close)
  )
