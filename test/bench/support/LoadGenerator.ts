/**
 * Load over keep-alive connections, one request at a time on each, from plain sockets: the generator must cost less
 * than what it measures. Bounded in requests and in time.
 */
import { connect, type Socket } from "node:net"

export interface Load {
  readonly port: number
  readonly connections: number
  readonly requests: number
  readonly secondsMax: number
  /** The bytes of the n-th request. */
  readonly request: (index: number) => string
}

export interface Measured {
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly completed: number
  /** By status; anything except 2xx is a fault of the bench or of the service. */
  readonly statuses: ReadonlyMap<number, number>
}

export const post = (path: string, body: string, headers: Readonly<Record<string, string>> = {}): string =>
  `POST ${path} HTTP/1.1\r\nhost: bench\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(
    body
  )}\r\n${lines(headers)}\r\n${body}`

const lines = (headers: Readonly<Record<string, string>>): string =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join("")

export const run = (load: Load): Promise<Measured> =>
  new Promise((resolve, reject) => {
    const latenciesMs: Array<number> = []
    const statuses = new Map<number, number>()
    const sockets: Array<Socket> = []
    let sent = 0
    let open = load.connections
    const startedAt = performance.now()
    const deadline = startedAt + load.secondsMax * 1_000

    const finish = () => {
      const seconds = (performance.now() - startedAt) / 1_000
      const sorted = latenciesMs.toSorted((a, b) => a - b)
      resolve({
        perSecond: sorted.length / seconds,
        p50Ms: sorted[Math.floor(sorted.length * 0.5)] ?? NaN,
        p99Ms: sorted[Math.floor(sorted.length * 0.99)] ?? NaN,
        completed: sorted.length,
        statuses
      })
    }

    for (let i = 0; i < load.connections; i++) {
      const socket = connect({ port: load.port, host: "127.0.0.1", noDelay: true })
      sockets.push(socket)
      let sentAt = 0
      const next = () => {
        if (sent >= load.requests || performance.now() > deadline) {
          socket.end()
          return
        }
        sentAt = performance.now()
        socket.write(load.request(sent++))
      }
      const parse = responses((status) => {
        latenciesMs.push(performance.now() - sentAt)
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
        next()
      })
      socket.on("connect", next)
      socket.on("data", parse)
      socket.on("error", reject)
      socket.on("close", () => {
        if (--open === 0) finish()
      })
    }
  })

/** Calls back with the status of each whole response. Responses have a content-length. */
const responses = (onResponse: (status: number) => void): ((chunk: Buffer) => void) => {
  let pending: Buffer = Buffer.alloc(0)
  return (chunk) => {
    pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk])
    for (;;) {
      const headEnd = pending.indexOf("\r\n\r\n")
      if (headEnd === -1) return
      const head = pending.toString("latin1", 0, headEnd)
      const length = /content-length: (\d+)/iu.exec(head)
      const total = headEnd + 4 + Number(length?.[1] ?? 0)
      if (pending.length < total) return
      pending = pending.subarray(total)
      onResponse(Number(head.slice(9, 12)))
    }
  }
}
