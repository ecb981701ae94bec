/**
 * The open connections of a server, limited per address and in total. At a limit, the connection that has been idle longest
 * is closed; if none is idle, the one that has taken longest to send its request. A connection with a request in progress is
 * never closed for this.
 */
import { randomUUID } from "node:crypto"
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http"
import type { Socket } from "node:net"
import type { Duplex } from "node:stream"
import { type Problem, toAnswer } from "../pipeline/Problems.ts"
import {
  addHeaders,
  isTrusted,
  networkOf,
  plainAddress,
  type TrustedProxies,
  type WebResponse
} from "../pipeline/WebRequest.ts"

// Problems that the server itself sends: to bytes that are not an HTTP request, and to connections over the limit. They have
// the form and the log lines of all other problems; the connection is closed after them.

/** The last request on a connection. */
export interface Exchange {
  readonly incoming: IncomingMessage
  readonly outgoing: ServerResponse
}

/** `log` is called for every response. */
export const makeRejections = (baseUrl: string, log: (answer: WebResponse) => void) => {
  const answerOf = (problem: Problem): WebResponse => {
    const requestId = randomUUID()
    // The path is unknown or untrusted.
    const answer = addHeaders(toAnswer(problem, requestId, "/", baseUrl), requestId, { connection: "close" })
    log(answer)
    return answer
  }

  const rejectAndClose = (socket: Duplex, problem: Problem): void => {
    if (!socket.writable) return void socket.destroy()
    const { body, headers, status } = answerOf(problem)
    const head = Object.entries({ ...headers, "content-length": Buffer.byteLength(body) })
    const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...head.map(([name, value]) => `${name}: ${value}`)]
    socket.end(`${lines.join("\r\n")}\r\n\r\n${body as string}`, () => socket.destroy())
  }

  /**
   * A complete request before the malformed bytes gets its response first: its client would take the problem for that
   * response.
   */
  const malformed = (socket: Duplex, error: NodeJS.ErrnoException, before: Exchange | undefined): void => {
    const reject = () => rejectAndClose(socket, problemOf(error))
    if (!socket.writable || error.code === "ECONNRESET") return void socket.destroy()
    if (before === undefined || before.outgoing.writableFinished) return reject()
    if (before.outgoing.writableEnded) return void socket.destroy()
    if (!before.incoming.complete) {
      // The response was sent while the body was still arriving.
      if (before.outgoing.headersSent) return void socket.destroy()
      return reject()
    }
    before.outgoing.once("finish", reject)
  }

  /** Closes a connection before anything is read from it. */
  const connection = (socket: Duplex, why: "address_full" | "server_full"): void =>
    rejectAndClose(socket, { ...FULL[why], headers: { "retry-after": "1" }, extra: { retry_after_seconds: 1 } })

  /** Rejects requests that Node's parser accepts: without an HTTP version, and HTTP/1.1 without a Host. */
  const request = ({ headers, httpVersion, httpVersionMajor }: IncomingMessage): WebResponse | undefined => {
    if (httpVersionMajor < 1) return answerOf(badRequest("The request names no HTTP version. Send HTTP/1.1."))
    return headers.host === undefined && httpVersion === "1.1"
      ? answerOf(badRequest("The `Host` header is required in HTTP/1.1."))
      : undefined
  }

  return { malformed, connection, request }
}

const FULL = {
  address_full: {
    status: 429,
    code: "RATE_LIMITED",
    message: "Too many open connections from your address. Reuse connections, or close some. Retry after 1 second."
  },
  server_full: {
    status: 503,
    code: "UNAVAILABLE",
    message: "The service has as many open connections as it can serve. Retry after 1 second."
  }
} as const

const badRequest = (message: string): Problem => ({ status: 400, code: "BAD_REQUEST", message })

/** Maps the codes of Node and its parser. */
const problemOf = ({ code }: NodeJS.ErrnoException): Problem => {
  switch (code) {
    case "HPE_HEADER_OVERFLOW":
      return {
        status: 431,
        code: "HEADERS_TOO_LARGE",
        message: "The request line and the headers are larger than 32768 bytes together, which is the limit."
      }
    case "HPE_CHUNK_EXTENSIONS_OVERFLOW":
      return { status: 413, code: "PAYLOAD_TOO_LARGE", message: "The chunk extensions of the body are too large." }
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return { status: 408, code: "REQUEST_TIMEOUT", message: "The request took too long to arrive. Send it again." }
    default:
      return badRequest("The bytes received are not a valid HTTP/1.1 request. The connection is closed.")
  }
}

export interface Connection {
  readonly socket: Socket
  /** The group of its address; undefined where no limit applies. */
  readonly network: string | undefined
  latest: Exchange | undefined
  /** Requests without a response so far. */
  unanswered: number
  /** A counter over the changes of all connections: when this one entered its current state. */
  since: number
}

export interface ConnectionBounds {
  readonly max: number
  /** 0 for no limit per address. */
  readonly perAddressMax: number
  /** Their connections carry the requests of many clients: only `max` limits them. */
  readonly trusted: TrustedProxies
}

export type Admission = "admitted" | "address_full" | "server_full"

/** If every connection is busy, the next scan comes after this time. */
const NO_VICTIM_PAUSE_MS = 10
/** Candidates found per scan of all connections, so that most new connections need no scan. */
const CANDIDATES_MAX = 256

interface Candidate {
  readonly connection: Connection
  readonly since: number
}

/** Connections that share one limit. */
class Group {
  readonly members = new Set<Connection>()
  private candidates: Array<Candidate> = []
  private noVictimAtMs = Number.NEGATIVE_INFINITY

  /** The connection to close for a new one; undefined where all are busy. */
  replaceable(): Connection | undefined {
    return this.nextCandidate() ?? (this.look() ? this.nextCandidate() : undefined)
  }

  private nextCandidate(): Connection | undefined {
    for (let next = this.candidates.pop(); next !== undefined; next = this.candidates.pop()) {
      const { connection, since } = next
      if (connection.since === since && this.members.has(connection)) return connection
    }
    return undefined
  }

  private look(): boolean {
    const nowMs = performance.now()
    if (nowMs - this.noVictimAtMs < NO_VICTIM_PAUSE_MS) return false
    const all = [...this.members]
    const idle = all.filter(({ unanswered }) => unanswered === 0)
    const found = idle.length > 0 ? idle : all.filter(isSending)
    if (found.length === 0) this.noVictimAtMs = nowMs
    this.candidates = found
      .toSorted((a, b) => a.since - b.since)
      .slice(0, CANDIDATES_MAX)
      .map((connection) => ({ connection, since: connection.since }))
      .toReversed()
    return found.length > 0
  }
}

export class Connections {
  private readonly bounds: ConnectionBounds
  private readonly bySocket = new WeakMap<object, Connection>()
  private readonly all = new Group()
  private readonly byNetwork = new Map<string, Group>()
  private changes = 0
  /** Closed or rejected for lack of room since the last read. */
  private closedCount = 0

  constructor(bounds: ConnectionBounds) {
    this.bounds = bounds
  }

  /** Closes other connections if that makes room. The caller must close a connection that is not admitted. */
  open(socket: Socket): Admission {
    const network = this.networkOf(plainAddress(socket.remoteAddress))
    const group = network === undefined ? undefined : (this.byNetwork.get(network) ?? new Group())
    if (group !== undefined && !makeRoom(group, this.bounds.perAddressMax, this.close))
      return this.rejected("address_full")
    if (!makeRoom(this.all, this.bounds.max, this.close)) return this.rejected("server_full")
    const connection: Connection = { socket, network, latest: undefined, unanswered: 0, since: ++this.changes }
    this.bySocket.set(socket, connection)
    this.all.members.add(connection)
    if (group !== undefined) this.byNetwork.set(network!, group)
    group?.members.add(connection)
    socket.once("close", () => this.gone(connection))
    return "admitted"
  }

  of(socket: object): Connection | undefined {
    return this.bySocket.get(socket)
  }

  began(connection: Connection, exchange: Exchange): void {
    connection.latest = exchange
    connection.unanswered++
    connection.since = ++this.changes
  }

  answered(connection: Connection): void {
    connection.unanswered--
    connection.since = ++this.changes
  }

  get count(): number {
    return this.all.members.size
  }

  /** Returns how many were closed or rejected since the last read. */
  takeClosed(): number {
    const count = this.closedCount
    this.closedCount = 0
    return count
  }

  private networkOf(address: string): string | undefined {
    if (this.bounds.perAddressMax === 0 || isTrusted(address, this.bounds.trusted)) return undefined
    return networkOf(address)
  }

  private rejected(why: Exclude<Admission, "admitted">): Admission {
    this.closedCount++
    return why
  }

  private readonly close = (connection: Connection): void => {
    this.closedCount++
    this.gone(connection)
    connection.socket.destroy()
  }

  private gone(connection: Connection): void {
    this.all.members.delete(connection)
    if (connection.network === undefined) return
    const group = this.byNetwork.get(connection.network)
    group?.members.delete(connection)
    if (group?.members.size === 0) this.byNetwork.delete(connection.network)
  }
}

const makeRoom = (group: Group, max: number, close: (connection: Connection) => void): boolean => {
  while (group.members.size >= max) {
    const replaceable = group.replaceable()
    if (replaceable === undefined) return false
    close(replaceable)
  }
  return true
}

const isSending = ({ latest, unanswered }: Connection): boolean =>
  unanswered === 1 && latest?.incoming.complete === false
