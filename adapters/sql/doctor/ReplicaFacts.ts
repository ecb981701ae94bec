/**
 * What `doctor` finds out about a read replica: whether it is a standby of the same cluster, and how long it takes to
 * replay what the primary has written.
 */
import { PgConnection } from "@effect/sql-pg"
import { Duration, Effect } from "effect"
import { monotonicNowMs } from "../../../domain/shared/Time.ts"
import type { DatabaseHost } from "../primary/DatabaseUrl.ts"
import type { HostState } from "../primary/HostState.ts"
import { askHost } from "../primary/PrimaryWatch.ts"

export interface ReplicaFacts {
  readonly name: string
  readonly state: HostState
  /** Undefined: longer than the limit, or the server is not a standby. */
  readonly caughtUpMs: number | undefined
}

const ASK_EVERY = Duration.millis(50)

/** `position`: of the primary in its write-ahead log, read just before. */
export const replicaFacts = Effect.fnUntraced(function* (host: DatabaseHost, position: bigint, lagMsMax: number) {
  const startedMs = yield* monotonicNowMs
  const state = yield* askHost(host)
  const caughtUpMs = yield* PgConnection.make({ url: host.url, applicationName: "agent-tool-billing doctor" }).pipe(
    Effect.flatMap((connection) =>
      Effect.gen(function* () {
        while (true) {
          const [row] = yield* connection.queryValues(
            "SELECT pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0')::int8 WHERE pg_is_in_recovery()"
          )
          if (row === undefined) return undefined
          if (typeof row[0] === "bigint" && row[0] >= position) return (yield* monotonicNowMs) - startedMs
          yield* Effect.sleep(ASK_EVERY)
        }
      })
    ),
    Effect.scoped,
    Effect.timeoutOrElse({ duration: Duration.millis(lagMsMax), orElse: () => Effect.undefined }),
    Effect.orElseSucceed(() => undefined)
  )
  return { name: host.name, state, caughtUpMs } satisfies ReplicaFacts
})
