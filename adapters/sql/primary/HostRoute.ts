/**
 * Where the connections of a pool go: the host that is the primary now, or the read replica in use. They are all opened
 * here, so that a move closes those that lead to another host, also if that host is silent and would never end them.
 */
import { type Duplex } from "node:stream"
import { connect, type Socket } from "node:net"
import type { DatabaseHost } from "./DatabaseUrl.ts"

export interface HostRoute {
  readonly current: DatabaseHost
  /** The driver calls it for every connection. */
  readonly stream: () => Duplex
  /** New connections go there. Returns how many connections to other hosts were closed. */
  moveTo(host: DatabaseHost): number
  /** After the server rejected a write, or is silent: a new connection may find the primary. At most once a second. */
  reconnect(): void
}

/** The peer of a waiting connection may have vanished: the first probe is sent after this time. */
const KEEP_ALIVE_MS = 10_000
const RECONNECT_EVERY_MS = 1_000

export const makeHostRoute = (first: DatabaseHost): HostRoute => {
  const open = new Map<Socket, DatabaseHost>()
  let current = first
  let reconnectedAtMs = Number.NEGATIVE_INFINITY

  const close = (leads: (to: DatabaseHost) => boolean): number => {
    const closing = [...open].filter(([, to]) => leads(to))
    // Without an error: the driver fails the statements of a connection that closes.
    for (const [socket] of closing) socket.destroy()
    return closing.length
  }

  return {
    get current() {
      return current
    },
    stream: () => {
      const socket = connectTo(current)
      open.set(socket, current)
      socket.once("close", () => open.delete(socket))
      return socket
    },
    moveTo: (host) => {
      current = host
      return close((to) => to !== host)
    },
    reconnect: () => {
      const nowMs = performance.now()
      if (nowMs - reconnectedAtMs < RECONNECT_EVERY_MS) return
      reconnectedAtMs = nowMs
      close(() => true)
    }
  }
}

const connectTo = ({ host, port }: DatabaseHost): Socket =>
  host.startsWith("/")
    ? connect({ path: `${host}/.s.PGSQL.${port}` })
    : connect({ host, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_MS })
