/**
 * A TCP proxy to a server on a port of its own, which can drop everything on its existing connections: like a machine
 * that vanished.
 */
import { Effect } from "effect"
import { connect, createServer, type Socket } from "node:net"
import type { AddressInfo } from "node:net"

export interface TcpWay {
  readonly address: { readonly host: string; readonly port: number }
  /** Later connections pass. */
  freeze(): void
  /** Delivers what was dropped, even if the sender has disconnected. */
  thaw(): void
}

export const aWay = (host: string, port: number) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.callback<TcpWay & { close(): void }>((resume) => {
        const open = new Set<Socket>()
        const frozen: Array<readonly [from: Socket, to: Socket]> = []
        const pairs: Array<readonly [from: Socket, to: Socket]> = []
        const server = createServer((near) => {
          const far = connect(port, host)
          for (const [from, to] of [
            [near, far],
            [far, near]
          ] as const) {
            open.add(from)
            pairs.push([from, to])
            from.pipe(to)
            from.on("error", () => to.destroy()).on("close", () => open.delete(from))
          }
        })
        server.listen(0, "127.0.0.1", () => {
          resume(
            Effect.succeed({
              address: { host: "127.0.0.1", port: (server.address() as AddressInfo).port },
              freeze: () => {
                for (const socket of open) socket.unpipe().pause()
                frozen.push(...pairs.splice(0))
              },
              thaw: () => {
                for (const [from, to] of frozen.splice(0)) from.pipe(to)
              },
              close: () => {
                server.close()
                for (const socket of open) socket.destroy()
              }
            })
          )
        })
      }),
      (way) => Effect.sync(() => way.close())
    ),
    (way): TcpWay => way
  )
