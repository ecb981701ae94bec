/**
 * What a read replica is compared with: the primary's position in its write-ahead log, and its identity.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { DatabaseHost, DatabaseHosts } from "../primary/DatabaseUrl.ts"
import { askHost } from "../primary/PrimaryWatch.ts"
import { DatabaseUnfit } from "../shared/DatabaseCheck.ts"

/** Of the primary, read anew each time. */
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
