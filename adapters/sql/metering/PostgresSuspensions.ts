/**
 * Calls between two legs, in PostgreSQL. They are rare, so they use the pool instead of the lane of calls.
 */
import { Effect } from "effect"
import type { CallStore, Resumed, Suspended } from "../../../domain/metering/CallStore.ts"
import { Microcents } from "../../../domain/shared/Microcents.ts"
import { uuidOfReceipt } from "../ledger/LedgerCodes.ts"
import { toDate } from "../shared/Instants.ts"
import type { StoreSql } from "../shared/StoreSql.ts"

/** As `call_suspend` returns them (migrations/ledger/SuspendCalls.ts). */
const SUSPENDED: ReadonlyArray<Suspended> = ["suspended", "too_many", "gone"]

interface ResumedRow {
  readonly held: bigint
  readonly free: boolean
  readonly free_calls_left: number | null
  readonly available: bigint
}

export const suspending = (sql: StoreSql): Pick<CallStore["Service"], "suspend" | "mayWait" | "resume" | "extend"> => ({
  suspend: Effect.fn("PostgresCallStore.suspend")(({ consumerId, deadlineAt, invocationId, leg, max }) =>
    sql<{ readonly code: number }>`
      SELECT call_suspend(${uuidOfReceipt(invocationId)}, ${consumerId}, ${leg}::smallint, ${toDate(deadlineAt)}, ${max})
        AS code`.one(({ code }) => SUSPENDED[code]!)
  ),

  // By the rule of `call_suspend`, without its lock: a call that is suspended in between counts there.
  mayWait: Effect.fn("PostgresCallStore.mayWait")((consumerId, providerId, max) =>
    sql<{ readonly may: boolean }>`
      SELECT count(*) < ${max} AND 2 * count(*) FILTER (WHERE provider_id = ${providerId}) < ${max} AS may
      FROM calls_open WHERE consumer_id = ${consumerId} AND suspended_leg IS NOT NULL`.one(({ may }) => may)
  ),

  resume: Effect.fn("PostgresCallStore.resume")(function* ({ consumerId, deadlineAt, invocationId, leg }) {
    const id = uuidOfReceipt(invocationId)
    const [row] = yield* sql<ResumedRow>`
      UPDATE calls_open o SET suspended_leg = NULL, deadline_at = ${toDate(deadlineAt)} FROM wallets w
      WHERE o.invocation_id = ${id} AND o.consumer_id = ${consumerId} AND o.suspended_leg = ${leg}
        AND w.consumer_id = o.consumer_id AND NOT w.frozen
      RETURNING o.held, o.free, o.free_calls_left, w.credits - w.debits - w.held AS available`
    if (row !== undefined) return toResumed(row)
    const isSuspended = yield* sql`
      SELECT FROM calls_open o JOIN wallets w ON w.consumer_id = o.consumer_id
      WHERE o.invocation_id = ${id} AND o.consumer_id = ${consumerId} AND o.suspended_leg = ${leg} AND w.frozen`.hasRows
    return isSuspended ? { _tag: "AccountFrozen" as const } : undefined
  }),

  extend: Effect.fn("PostgresCallStore.extend")(
    (consumerId, invocationId, deadlineAt) =>
      sql`
        UPDATE calls_open SET deadline_at = greatest(deadline_at, ${toDate(deadlineAt)})
        WHERE invocation_id = ${uuidOfReceipt(invocationId)} AND consumer_id = ${consumerId} RETURNING 1`.hasRows
  )
})

const toResumed = ({ available, free, free_calls_left, held }: ResumedRow): Resumed => ({
  _tag: "Opened",
  held: Microcents.make(held),
  free,
  freeCallsLeft: free_calls_left ?? undefined,
  availableMicrocents: available
})
