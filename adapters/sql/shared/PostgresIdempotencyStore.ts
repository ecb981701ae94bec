/**
 * Idempotency keys in PostgreSQL. The row is inserted in the caller's transaction: a second request waits on its
 * primary key until that transaction ends, and then finds either the response or a free key.
 */
import { Effect } from "effect"
import { SqlError } from "effect/sql"
import { IdempotencyInFlight, IdempotencyStore } from "../../../domain/shared/Idempotency.ts"
import type { StoreUnavailable } from "../../../domain/shared/StoreUnavailable.ts"
import { toDate } from "./Rows.ts"
import { isLockTimeout } from "./SqlFailures.ts"
import { prune, storeLayer } from "./StoreSql.ts"

const WAIT_MS_MAX = 5_000
const RETRY_AFTER_SECONDS = 2

interface KnownRow {
  readonly request_hash: string
  readonly sealed_answer: string | null
}

export const layer = storeLayer(IdempotencyStore, (sql) => {
  const inFlight = Effect.suspend(() => new IdempotencyInFlight({ retryAfterSeconds: RETRY_AFTER_SECONDS }))

  return {
    claim: Effect.fnUntraced(function* ({ at, keyHash, requestHash, scope }) {
      yield* sql`SELECT set_config('lock_timeout', ${`${WAIT_MS_MAX}ms`}, true)`
      const isTaken = yield* sql`
        INSERT INTO idempotency_keys (scope, key_hash, request_hash, created_at)
        VALUES (${scope}, decode(${keyHash}, 'hex'), decode(${requestHash}, 'hex'), ${toDate(at)})
        ON CONFLICT DO NOTHING RETURNING 1 AS taken`.hasRows.pipe(Effect.catchIf(isLocked, () => inFlight))
      yield* sql`SET LOCAL lock_timeout TO DEFAULT`
      if (isTaken) return { _tag: "Claimed" } as const
      const [known] = yield* sql<KnownRow>`
        SELECT encode(request_hash, 'hex') AS request_hash, sealed_answer FROM idempotency_keys
        WHERE scope = ${scope} AND key_hash = decode(${keyHash}, 'hex')`
      // No row: pruned just now. No response: taken by this transaction.
      if (known === undefined || known.sealed_answer === null) return yield* inFlight
      return { _tag: "Known", requestHash: known.request_hash, sealedAnswer: known.sealed_answer } as const
    }),

    complete: Effect.fnUntraced(function* (scope, keyHash, sealedAnswer) {
      const isCompleted = yield* sql`
        UPDATE idempotency_keys SET sealed_answer = ${sealedAnswer}
        WHERE scope = ${scope} AND key_hash = decode(${keyHash}, 'hex') RETURNING 1 AS completed`.hasRows
      if (!isCompleted) {
        return yield* Effect.die(new Error("Cannot store the response: its idempotency key was not claimed"))
      }
    }),

    prune: (before, limit) => prune(sql, "idempotency_keys", sql`created_at < ${toDate(before)}`, limit)
  }
})

/** Another request holds the key for longer than this one waits. */
const isLocked = ({ cause }: StoreUnavailable): boolean => SqlError.isSqlError(cause) && isLockTimeout(cause)
