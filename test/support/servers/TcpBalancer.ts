/**
 * A balancer in front of several nodes: each connection goes to the next node that accepts it, and its bytes are
 * forwarded unread. A node that dies takes its connections with it.
 */
import { Effect } from "effect"
import { type AddressInfo, connect, createServer, type Socket } from "node:net"

export interface TcpBalancer {
  readonly port: number
  /** Connections that each node has had, in the order of the nodes. */
  readonly taken: ReadonlyArray<number>
  /** Where connections go from now on. Before that, and where no node accepts them, they are closed. */
  lead(ports: ReadonlyArray<number>): void
}

export const tcpBalancer = Effect.acquireRelease(
  Effect.callback<TcpBalancer & { close(): void }>((resume) => {
    const open = new Set<Socket>()
    const taken: Array<number> = []
    let nodes: ReadonlyArray<number> = []
    let next = 0

    const join = (near: Socket, triesLeft: number): void => {
      if (triesLeft === 0 || near.destroyed) return void near.destroy()
      const node = next++ % nodes.length
      const far = connect({ host: "127.0.0.1", port: nodes[node]!, noDelay: true })
      far.once("error", () => join(near, triesLeft - 1))
      far.once("connect", () => {
        taken[node] = (taken[node] ?? 0) + 1
        far.removeAllListeners("error")
        pass(near, far)
        pass(far, near)
      })
    }

    const pass = (from: Socket, to: Socket): void => {
      open.add(from)
      from.pipe(to)
      from.on("error", () => to.destroy())
      from.on("close", () => {
        open.delete(from)
        to.destroy()
      })
    }

    const server = createServer({ noDelay: true }, (near) => {
      near.on("error", () => near.destroy())
      join(near, nodes.length)
    })
    server.listen(0, "127.0.0.1", () =>
      resume(
        Effect.succeed({
          port: (server.address() as AddressInfo).port,
          taken,
          lead: (ports) => (nodes = ports),
          close: () => {
            server.close()
            for (const socket of open) socket.destroy()
          }
        })
      )
    )
  }),
  (balancer) => Effect.sync(() => balancer.close())
).pipe(Effect.map((balancer): TcpBalancer => balancer))
