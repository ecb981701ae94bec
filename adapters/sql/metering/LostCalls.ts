/**
 * Calls that were forwarded and that the database does not have: a standby was promoted that lacked the last commits.
 * They are recorded, so that operators know whom they concern. Nothing is charged again: what the calls reserved is lost
 * as well, and their consumers may have spent it.
 */
import type { Effect } from "effect"
import type { StoreUnavailable } from "../../../domain/shared/StoreUnavailable.ts"
import { receiptOfUuid, uuidOfReceipt } from "../ledger/LedgerCodes.ts"
import type { StoreSql } from "../shared/StoreSql.ts"
import { storedDigest } from "./KeyDigests.ts"
import type { ClosedTogether } from "./RecentClosings.ts"

/** A lost call as operators see it. */
export interface LostCall {
  readonly receiptId: string
  readonly consumerId: string
  readonly providerId: string
  readonly toolName: string
  readonly costMicrocents: bigint
  readonly calledAt: Date
  readonly foundAt: Date
  /** Whether its caller got the receipt. Otherwise it got an error. */
  readonly isAcknowledged: boolean
  /** Whether its idempotency key was used again, so that the call was forwarded twice. */
  readonly isRepeated: boolean
  readonly reviewedAt: Date | null
}

/** Records those of the calls whose receipt is missing, and returns their ids. A repetition finds them once. */
export const recordLost = (
  sql: StoreSql,
  closings: ReadonlyArray<Pick<ClosedTogether, "rows" | "keyed" | "unused">>,
  isAcknowledged: boolean
): Effect.Effect<ReadonlyArray<string>, StoreUnavailable> => {
  const keyed = closings.flatMap((one) => one.keyed)
  const rows = `{${closings.map((one) => one.rows).join(",")}}`
  return sql<{ readonly receipt_id: string }>`
    INSERT INTO lost_calls (receipt_id, consumer_id, provider_id, tool_id, tool_name, called_at, created_at, cost, fee,
      status, signature, acknowledged, key_hash, found_at)
    SELECT c.receipt_id, c.consumer_id, c.provider_id, c.tool_id, c.tool_name, to_timestamp(c.called_ms::float8 / 1000),
      to_timestamp(c.created_ms::float8 / 1000), c.cost, c.fee, c.status, c.signature, ${isAcknowledged},
      k.key_hash, now()
    FROM unnest(${rows}::call_closing[]) c
    LEFT JOIN unnest(${keyed.map(({ receiptId: id }) => uuidOfReceipt(id))}::uuid[],
      ${keyed.map(({ keyHash }) => `\\x${storedDigest(keyHash)}`)}::bytea[]) AS k (receipt_id, key_hash) ON k.receipt_id = c.receipt_id
    WHERE NOT EXISTS (SELECT FROM receipts r WHERE r.receipt_id = c.receipt_id AND r.consumer_id = c.consumer_id
        AND r.signature = c.signature)
      AND c.receipt_id <> ALL (${closings.flatMap((one) => one.unused.map(uuidOfReceipt))}::uuid[])
    ON CONFLICT (receipt_id, consumer_id) DO NOTHING RETURNING receipt_id`.unprepared.all((row) =>
    receiptOfUuid(row.receipt_id)
  )
}

/** Oldest first. */
export const lostCalls = (sql: StoreSql, limit: number) =>
  sql<LostCall>`
  SELECT l.receipt_id AS "receiptId", l.consumer_id::text AS "consumerId", l.provider_id::text AS "providerId",
    l.tool_name AS "toolName", l.cost AS "costMicrocents", l.called_at AS "calledAt", l.found_at AS "foundAt",
    l.acknowledged AS "isAcknowledged", l.reviewed_at AS "reviewedAt",
    EXISTS (SELECT FROM call_idempotency i WHERE i.consumer_id = l.consumer_id AND i.key_hash = l.key_hash
        AND i.invocation_id <> l.receipt_id)
      OR EXISTS (SELECT FROM calls_open o WHERE o.consumer_id = l.consumer_id AND o.key_hash = l.key_hash
        AND o.invocation_id <> l.receipt_id) AS "isRepeated"
  FROM lost_calls l ORDER BY l.receipt_id LIMIT ${limit}`.all((row) => ({
    ...row,
    receiptId: receiptOfUuid(row.receiptId)
  }))

/** They no longer raise an alert. Returns how many. */
export const reviewLost = (sql: StoreSql) =>
  sql`UPDATE lost_calls SET reviewed_at = now() WHERE reviewed_at IS NULL RETURNING receipt_id`.count
