/**
 * Finds the primary among several hosts and follows it. One connection per host asks its server every second whether it
 * accepts writes. As soon as a server was promoted, all connections move to it. A primary that fails while no other
 * server is promoted stays the target: its connections break, or are closed here while it is silent, so that no request
 * waits for it until its own time is up.
 */
import { PgConnection } from "@effect/sql-pg"
import { Duration, Effect, type Scope } from "effect"
import type { SqlError } from "effect/sql"
import { connect, type Socket } from "node:net"
import type { Duplex } from "node:stream"
import { rootMessage } from "../../../domain/shared/StoreUnavailable.ts"
import { monotonicNowMs } from "../../../domain/shared/Time.ts"
import { DatabaseUnfit } from "../shared/DatabaseCheck.ts"
import { connectionError } from "../shared/SqlFailures.ts"
import type { DatabaseHost, DatabaseHosts } from "./DatabaseUrl.ts"

// The connections of a pool go to one host: the one that is the primary now, or the read replica in use. They are all opened
// here, so that a move closes those that lead to another host, also if that host is silent and would never end them.

export interface HostRoute {
  readonly current: DatabaseHost
  /** The driver calls it for every connection. */
  readonly stream: () => Duplex
  /** New connections go there. Returns how many connections to other hosts were closed. */
  moveTo(host: DatabaseHost): number
  /** Acts at most once a second when the server rejected a write, or is silent: a new connection may find the primary. */
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
    // No error is given: the driver fails the statements of a connection that closes.
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

// The choice of the primary. After a promotion the new primary has a higher timeline than the old one, which may still
// accept writes: only the highest timeline that this process has seen counts.

export type HostState =
  | { readonly _tag: "Unavailable"; readonly problem: string }
  | {
      readonly _tag: "Available"
      readonly isWritable: boolean
      /** 0 where the server does not tell. */
      readonly timeline: number
      /** PostgreSQL's system identifier. Servers that replicate each other have the same. */
      readonly cluster: string | undefined
    }

export type HostStates = ReadonlyMap<DatabaseHost, HostState>

export interface Known {
  readonly current: DatabaseHost | undefined
  /** The highest of a primary so far. */
  readonly timeline: number
  readonly cluster: string | undefined
}

/** Returns undefined if none of them is a writable primary now. */
export const primaryAmong = (
  states: HostStates,
  { cluster, current, timeline }: Known
): { readonly host: DatabaseHost; readonly timeline: number; readonly cluster: string | undefined } | undefined => {
  const writable = [...states].flatMap(([host, state]) =>
    state._tag === "Available" &&
    state.isWritable &&
    state.timeline >= timeline &&
    (cluster === undefined || state.cluster === undefined || state.cluster === cluster)
      ? [{ host, timeline: state.timeline, cluster: state.cluster }]
      : []
  )
  const highest = Math.max(...writable.map((one) => one.timeline))
  const best = writable.filter((one) => one.timeline === highest)
  return best.find(({ host }) => host === current) ?? best[0]
}

/** Hosts with different data, which must not stand in for each other. */
export const differentClusters = (states: HostStates): ReadonlyArray<string> => {
  const byCluster = new Map<string, string>()
  for (const [host, state] of states) {
    if (state._tag === "Available" && state.cluster !== undefined && !byCluster.has(state.cluster)) {
      byCluster.set(state.cluster, host.name)
    }
  }
  return byCluster.size > 1 ? [...byCluster.values()] : []
}

export const describeHosts = (states: HostStates): string =>
  [...states].map(([{ name }, state]) => `${name} ${inWords(state)}`).join("; ")

const inWords = (state: HostState): string => {
  if (state._tag === "Unavailable") return `is not available (${state.problem})`
  return state.isWritable ? `accepts writes on timeline ${state.timeline}` : "is a standby, or read-only"
}

const ASK_EVERY = Duration.seconds(1)
/** A server that takes longer counts as unavailable. */
const ANSWER_WITHIN = Duration.seconds(2)
/** Requests do not wait for a primary that is silent for longer. */
const SILENT_MS_MAX = 5_000
const ASK_AGAIN_AFTER = Duration.millis(250)
/** The start waits so long for the first response of every host, in case that several of them accept writes. */
const ALL_HEARD_WITHIN_MS = 3_000
const FOUND_WITHIN_MS = 15_000
const LOOK_EVERY = Duration.millis(20)
const APPLICATION_NAME = "agent-tool-billing primary watch"

const ACCEPTS_WRITES = `SELECT NOT pg_is_in_recovery() AND current_setting('transaction_read_only') = 'off'`
/** Managed services may refuse these. */
const TIMELINE = `SELECT ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int::text`
const CLUSTER = `SELECT system_identifier::text FROM pg_control_system()`

const unheard: HostState = { _tag: "Unavailable", problem: "no response yet" }
const silence = connectionError("watch", "The server does not answer", new Error("no answer within 2 seconds"))
const silent: HostState = { _tag: "Unavailable", problem: rootMessage(silence) }

export const followPrimary = Effect.fnUntraced(function* (
  hosts: DatabaseHosts
): Effect.fn.Return<HostRoute, DatabaseUnfit, Scope.Scope> {
  const route = makeHostRoute(hosts[0])
  const states = new Map<DatabaseHost, HostState>(hosts.map((host) => [host, unheard]))
  let known: Known = { current: undefined, timeline: 0, cluster: undefined }
  let isMissed = false
  let lastResponseMs = yield* monotonicNowMs

  /** Nothing is chosen at the start before every host had the time to respond. */
  const choose = Effect.suspend(() => {
    const before = known.current
    const best = primaryAmong(states, known)
    if (best === undefined) {
      if (isMissed) return Effect.void
      isMissed = true
      return Effect.logWarning(`No host of the database is a writable primary: ${describeHosts(states)}`)
    }
    known = { current: best.host, timeline: best.timeline, cluster: best.cluster ?? known.cluster }
    const wasMissed = isMissed
    isMissed = false
    const closed = route.moveTo(best.host)
    if (before !== undefined && before !== best.host) {
      return Effect.logWarning(
        `The primary of the database is now ${best.host.name}, before ${before.name}. ${closed} connections were closed.`
      )
    }
    return wasMissed ? Effect.logInfo(`The primary of the database is ${best.host.name} again`) : Effect.void
  })

  const record = Effect.fnUntraced(function* (host: DatabaseHost, state: HostState) {
    states.set(host, state)
    if (known.current === undefined) return
    yield* choose
    if (host !== known.current) return
    const nowMs = yield* monotonicNowMs
    // A rejected connection is an answer, too: the connections of the pool may still be served.
    if (state !== silent) lastResponseMs = nowMs
    else if (nowMs - lastResponseMs > SILENT_MS_MAX) route.reconnect()
  })

  const watch = (host: DatabaseHost) =>
    Effect.gen(function* () {
      const connection = yield* PgConnection.make({
        url: host.url,
        applicationName: APPLICATION_NAME
      }).pipe(Effect.timeoutOrElse({ duration: ANSWER_WITHIN, orElse: () => Effect.fail(silence) }))
      while (true) {
        // Recorded before the statement is abandoned, which takes seconds more on a silent connection.
        const timedOut = Effect.sleep(ANSWER_WITHIN).pipe(
          Effect.andThen(record(host, silent)),
          Effect.andThen(Effect.fail(silence))
        )
        yield* record(host, yield* Effect.raceFirst(stateOf(connection), timedOut))
        yield* Effect.sleep(ASK_EVERY)
      }
    }).pipe(
      Effect.scoped,
      Effect.catch((error) => record(host, failed(error))),
      Effect.andThen(Effect.sleep(ASK_AGAIN_AFTER)),
      Effect.forever
    )

  yield* Effect.forEach(hosts, (host) => Effect.forkScoped(watch(host)), { discard: true })

  const startedMs = yield* monotonicNowMs
  while (known.current === undefined) {
    yield* Effect.sleep(LOOK_EVERY)
    const different = differentClusters(states)
    if (different.length > 0) {
      const problem = `${different.join(" and ")} are not replicas of each other: their system identifiers differ.`
      return yield* new DatabaseUnfit({ problem })
    }
    const waitedMs = (yield* monotonicNowMs) - startedMs
    const areAllHeard = [...states.values()].every((state) => state !== unheard)
    const isThere = primaryAmong(states, known) !== undefined
    if (isThere && (areAllHeard || waitedMs > ALL_HEARD_WITHIN_MS)) yield* choose
    else if (waitedMs > FOUND_WITHIN_MS) {
      const problem = `none of its hosts is a writable primary: ${describeHosts(states)}.`
      return yield* new DatabaseUnfit({ problem })
    }
  }
  return route
})

/** Asks a host once, without following it. */
export const askHost = (host: DatabaseHost): Effect.Effect<HostState> =>
  PgConnection.make({ url: host.url, applicationName: APPLICATION_NAME, connectTimeout: ANSWER_WITHIN }).pipe(
    Effect.flatMap(stateOf),
    Effect.scoped,
    Effect.timeoutOrElse({ duration: Duration.times(ANSWER_WITHIN, 2), orElse: () => Effect.fail(silence) }),
    Effect.catch((error) => Effect.succeed(failed(error)))
  )

const stateOf = Effect.fnUntraced(function* (
  connection: PgConnection.PgConnection
): Effect.fn.Return<HostState, SqlError.SqlError> {
  const [row] = yield* connection.queryValues(ACCEPTS_WRITES)
  const isWritable = row?.[0] === true
  const cluster = yield* textOf(connection, CLUSTER)
  const timeline = isWritable ? Number(yield* textOf(connection, TIMELINE)) || 0 : 0
  return { _tag: "Available", isWritable, timeline, cluster }
})

const textOf = (connection: PgConnection.PgConnection, sql: string) =>
  connection.queryValues(sql).pipe(
    Effect.map(([row]) => (typeof row?.[0] === "string" ? row[0] : undefined)),
    Effect.catchIf(
      (error) => error.reason._tag !== "ConnectionError",
      () => Effect.undefined
    )
  )

const failed = (error: SqlError.SqlError): HostState =>
  error === silence ? silent : { _tag: "Unavailable", problem: rootMessage(error) }
