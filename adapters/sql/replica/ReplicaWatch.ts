/**
 * Follows the read replicas: asks the primary for its position in the write-ahead log and each replica for what it has
 * replayed, twice a second, and leads connections to a replica that is within the limit. Without one, reads go to the
 * primary.
 */
import { PgConnection } from "@effect/sql-pg"
import { Duration, Effect, type Scope } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import type { ReadReplica } from "../../../domain/platform/ReadReplica.ts"
import { rootMessage } from "../../../domain/shared/StoreUnavailable.ts"
import { monotonicNowMs } from "../../../domain/shared/Time.ts"
import type { DatabaseHost, DatabaseHosts } from "../primary/DatabaseUrl.ts"
import { askHost, type HostRoute, makeHostRoute } from "../primary/PrimaryWatch.ts"
import { DatabaseUnfit } from "../shared/DatabaseCheck.ts"
import { connectionError } from "../shared/SqlFailures.ts"

/** Reads the primary's position in its write-ahead log. */
export const walPosition = Effect.map(SqlClient.SqlClient, (sql) =>
  Effect.map(
    sql<{ readonly position: bigint }>`SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::int8 AS position`,
    ([row]) => row!.position
  )
)

/** Servers that replicate each other have the same. Undefined where it is hidden, as managed services may do. */
export const systemIdentifier = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql<{ readonly id: string }>`SELECT system_identifier::text AS id FROM pg_control_system()`.pipe(
    Effect.map(([row]) => row?.id),
    Effect.orElseSucceed(() => undefined)
  )
)

/** Fails if a host that responds has other data. */
export const rejectStrangers = Effect.fnUntraced(function* (hosts: DatabaseHosts) {
  const own = yield* systemIdentifier
  const check = Effect.fnUntraced(function* (host: DatabaseHost) {
    const state = yield* askHost(host)
    if (own === undefined || state._tag === "Unavailable" || (state.cluster ?? own) === own) return
    const problem = `${host.name} is not a replica of the database of DATABASE_URL: their system identifiers differ.`
    return yield* new DatabaseUnfit({ problem })
  })
  yield* Effect.forEach(hosts, check, { concurrency: "unbounded", discard: true })
})

/**
 * Positions of the primary in its write-ahead log, with the times at which they were asked for. A replica that has
 * replayed a position has everything that the primary had at its time. So the lag needs no clock of another machine, and
 * an idle primary, which writes nothing for hours, is not late.
 */
interface WalSamples {
  add(sample: { readonly atMs: number; readonly position: bigint }): void
  /** The newest time whose position was replayed. Undefined: it is older than every sample. */
  asOfMs(replayed: bigint): number | undefined
}

/** Samples older than `windowMs` are dropped: a replica that far behind is not used. */
export const makeWalSamples = (windowMs: number): WalSamples => {
  let samples: Array<{ readonly atMs: number; readonly position: bigint }> = []
  return {
    add: (sample) => {
      samples = [...samples.filter(({ atMs }) => atMs >= sample.atMs - windowMs), sample]
    },
    // The positions of the new primary after a failover may be lower than those of the old one.
    asOfMs: (replayed) => samples.findLast(({ position }) => position <= replayed)?.atMs
  }
}

const ASK_EVERY = Duration.millis(500)
/** A server that takes longer counts as unavailable. */
const ANSWER_WITHIN = Duration.seconds(2)
/** The start waits so long, so that the log does not report a replica as missing before its first response. */
const HEARD_WITHIN_MS = 5_000
const APPLICATION_NAME = "agent-tool-billing replica watch"

/** A primary, where nothing is replayed, has no row. */
const REPLAYED = `SELECT pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0')::int8 WHERE pg_is_in_recovery()`

const silence = connectionError("watch", "The server does not answer", new Error("no answer within 2 seconds"))

/** `position`: of the primary in its log. */
export const followReplica = Effect.fnUntraced(function* (
  hosts: DatabaseHosts,
  position: Effect.Effect<bigint, SqlError.SqlError>,
  replica: ReadReplica
): Effect.fn.Return<HostRoute, never, Scope.Scope> {
  const route = makeHostRoute(hosts[0])
  const samples = makeWalSamples(2 * replica.lagMsMax)
  const asOf = new Map<DatabaseHost, number>()
  const problems = new Map<DatabaseHost, string>()
  const startedMs = yield* monotonicNowMs
  let wasFresh: boolean | undefined

  const choose = Effect.gen(function* () {
    const nowMs = yield* monotonicNowMs
    const isFresh = (host: DatabaseHost) => nowMs - (asOf.get(host) ?? Number.NEGATIVE_INFINITY) <= replica.lagMsMax
    const best = isFresh(route.current) ? route.current : [...asOf].toSorted((a, b) => b[1] - a[1])[0]?.[0]
    if (best !== undefined && best !== route.current) route.moveTo(best)
    replica.found(best === undefined ? undefined : { name: best.name, asOfMs: asOf.get(best)! })
    const isNow = replica.isFresh()
    const isTooEarly = wasFresh === undefined && !isNow && nowMs - startedMs < HEARD_WITHIN_MS
    if (isNow === wasFresh || isTooEarly) return
    wasFresh = isNow
    const reasons = [...problems].map(([{ name }, problem]) => `${name} ${problem}`).join("; ")
    yield* isNow
      ? Effect.logInfo(`The read replica ${replica.name()} answers reads of reports and the catalog`)
      : Effect.logWarning(
          `No read replica is within ${replica.lagMsMax} ms of the primary, which answers all reads${reasons === "" ? "" : `: ${reasons}`}`
        )
  })

  const record = (host: DatabaseHost, replayed: bigint | undefined) => {
    const asOfMs = replayed === undefined ? undefined : samples.asOfMs(replayed)
    if (asOfMs === undefined) return lost(host, replayed === undefined ? "is not a standby" : "is too far behind")
    asOf.set(host, asOfMs)
    problems.delete(host)
    return choose
  }

  /** Statements that wait for it fail, and are sent to the primary. */
  const lost = (host: DatabaseHost, problem: string) =>
    Effect.suspend(() => {
      problems.set(host, problem)
      if (asOf.delete(host) && route.current === host) route.reconnect()
      return choose
    })

  const watch = (host: DatabaseHost) =>
    Effect.gen(function* () {
      const connection = yield* PgConnection.make({
        url: host.url,
        applicationName: APPLICATION_NAME,
        connectTimeout: ANSWER_WITHIN
      })
      while (true) {
        // Recorded before the statement is abandoned, which takes seconds more on a silent connection.
        const silent = Effect.sleep(ANSWER_WITHIN).pipe(
          Effect.andThen(lost(host, "does not answer")),
          Effect.andThen(Effect.fail(silence))
        )
        const [row] = yield* Effect.raceFirst(connection.queryValues(REPLAYED), silent)
        yield* record(host, typeof row?.[0] === "bigint" ? row[0] : undefined)
        yield* Effect.sleep(ASK_EVERY)
      }
    }).pipe(
      Effect.scoped,
      Effect.catch((error) => lost(host, `is not available (${rootMessage(error)})`)),
      Effect.andThen(Effect.sleep(ASK_EVERY)),
      Effect.forever
    )

  const sample = Effect.gen(function* () {
    const atMs = yield* monotonicNowMs
    samples.add({ atMs, position: yield* position })
  }).pipe(
    Effect.timeout(ANSWER_WITHIN),
    // Without new positions the lag grows, which ends the use of the replica.
    Effect.ignoreCause,
    Effect.andThen(choose)
  )

  yield* sample.pipe(Effect.andThen(Effect.sleep(ASK_EVERY)), Effect.forever, Effect.forkScoped)
  yield* Effect.forEach(hosts, (host) => Effect.forkScoped(watch(host)), { discard: true })
  return route
})
