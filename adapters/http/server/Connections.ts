/**
 * The open connections of a server, limited per address and in total. At a limit, the connection that has been idle longest
 * is closed; if none is idle, the one that has taken longest to send its request. A connection with a request in progress is
 * never closed for this.
 */
import type { Socket } from "node:net"
import { isTrusted, networkOf, plainAddress, type TrustedProxies } from "../pipeline/WebRequest.ts"
import type { Exchange } from "./Rejections.ts"

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

  /** How many were closed or rejected since the last read. */
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
