/**
 * Calls that were forwarded and that the database does not have: a standby was promoted that lacked the last commits.
 * They are recorded, so that operators know whom they concern. Nothing is charged again: what the calls reserved is lost
 * as well, and their consumers may have spent it.
 */
import { Cause, Effect, Layer, Stream } from "effect"
import { ChangeFeed } from "../../../domain/shared/ChangeFeed.ts"
import type { StoreUnavailable } from "../../../domain/shared/StoreUnavailable.ts"
import { monotonicNowMs } from "../../../domain/shared/Time.ts"
import { receiptOfUuid, uuidOfReceipt } from "../ledger/LedgerCodes.ts"
import { type StoreSql, storeSql } from "../shared/StoreSql.ts"
import { storedDigest } from "./CallRows.ts"
import { type ClosedTogether, RecentClosings } from "./RecentClosings.ts"

/** A lost call as operators see it. */
export interface LostCall {
  readonly receiptId: string
  readonly consumerId: string
  readonly providerId: string
  readonly toolName: string
  readonly costMicrocents: bigint
  readonly calledAt: Date
  readonly foundAt: Date
  /** Its caller got the receipt. Otherwise it got an error. */
  readonly isAcknowledged: boolean
  /** Its idempotency key was used again, so that the call was forwarded twice. */
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
    WITH closed AS MATERIALIZED (
      SELECT * FROM unnest(${rows}::call_closing[]) c
      WHERE c.receipt_id <> ALL (${closings.flatMap((one) => one.unused.map(uuidOfReceipt))}::uuid[])
    ), stored AS MATERIALIZED (
      SELECT r.receipt_id, r.consumer_id, r.signature FROM receipts r
      WHERE r.receipt_id IN (SELECT receipt_id FROM closed)
    )
    INSERT INTO lost_calls (receipt_id, consumer_id, provider_id, tool_id, tool_name, called_at, created_at, cost, fee,
      status, signature, acknowledged, key_hash, found_at)
    SELECT c.receipt_id, c.consumer_id, c.provider_id, c.tool_id, c.tool_name, to_timestamp(c.called_ms::float8 / 1000),
      to_timestamp(c.created_ms::float8 / 1000), c.cost, c.fee, c.status, c.signature, ${isAcknowledged},
      k.key_hash, now()
    FROM closed c
    LEFT JOIN unnest(${keyed.map(({ receiptId: id }) => uuidOfReceipt(id))}::uuid[],
      ${keyed.map(({ keyHash }) => `\\x${storedDigest(keyHash)}`)}::bytea[]) AS k (receipt_id, key_hash) ON k.receipt_id = c.receipt_id
    WHERE (c.receipt_id, c.consumer_id, c.signature) NOT IN (SELECT receipt_id, consumer_id, signature FROM stored)
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
    EXISTS (SELECT 1 FROM call_idempotency i WHERE i.consumer_id = l.consumer_id AND i.key_hash = l.key_hash
        AND i.invocation_id <> l.receipt_id)
      OR EXISTS (SELECT 1 FROM calls_open o WHERE o.consumer_id = l.consumer_id AND o.key_hash = l.key_hash
        AND o.invocation_id <> l.receipt_id) AS "isRepeated"
  FROM lost_calls l ORDER BY l.receipt_id LIMIT ${limit}`.all((row) => ({
    ...row,
    receiptId: receiptOfUuid(row.receiptId)
  }))

/** They no longer raise an alert. Returns how many. */
export const reviewLost = (sql: StoreSql) =>
  sql`UPDATE lost_calls SET reviewed_at = now() WHERE reviewed_at IS NULL RETURNING receipt_id`.count

// After every loss of the database's connection, compares the calls that this node closed last with the database. A new
// primary may lack the last commits of the old one, and a server that runs without durability those before its crash.
// Calls that are still open are closed again; the others are recorded as lost.

// Calls that were acknowledged, whose closing a failover lost and whose opening it kept. The hold is still there, so they
// are closed again, with the receipt that the caller has. Only an open call is closed, so none is charged twice.

/**
 * Returns the receipts of those that were closed now. A stored response is lost: its key stays bound to the receipt. In the
 * order of wallets, as every batch locks them.
 */
export const closeAgain = (
  sql: StoreSql,
  closings: ReadonlyArray<ClosedTogether>
): Effect.Effect<ReadonlyArray<string>, StoreUnavailable> => {
  const keyed = closings.flatMap((one) => one.keyed)
  const rows = `{${closings.map((one) => one.rows).join(",")}}`
  const open = sql<{ readonly closing: string }>`
    WITH closed AS MATERIALIZED (SELECT * FROM unnest(${rows}::call_closing[])), open AS MATERIALIZED (
      SELECT o.invocation_id, o.consumer_id, o.held, o.fee_bps FROM calls_open o
      WHERE o.invocation_id IN (SELECT receipt_id FROM closed)
    )
    SELECT jsonb_populate_record(c::call_closing, jsonb_build_object('place', 1,
      'answer_headers', CASE WHEN c.answer_status IS NOT NULL THEN k.mark END))::text AS closing
    FROM closed c
    JOIN open o ON o.invocation_id = c.receipt_id AND o.consumer_id = c.consumer_id
    LEFT JOIN unnest(${keyed.map(({ receiptId }) => uuidOfReceipt(receiptId))}::uuid[],
      ${keyed.map(({ mark }) => mark)}::text[]) AS k (receipt_id, mark) ON k.receipt_id = c.receipt_id
    WHERE c.cost <= o.held AND c.fee_bps = o.fee_bps
      AND c.receipt_id <> ALL (${closings.flatMap((one) => one.unused.map(uuidOfReceipt))}::uuid[])
    ORDER BY c.consumer_id, c.receipt_id`.unprepared
  return Effect.flatMap(open, (found) =>
    sql<{ readonly receipt_id: string }>`
      SELECT (lost.closing).receipt_id AS receipt_id FROM (
        SELECT closing::call_closing FROM unnest(${found.map(({ closing }) => closing)}::text[]) closing
      ) lost, LATERAL calls_close(lost.closing, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, ARRAY[''::bytea], NULL) closed
      WHERE closed.holds[1] IS NOT NULL`.unprepared.all((row) => receiptOfUuid(row.receipt_id))
  )
}

const COMPARED_AT_ONCE_MAX = 1_000
/** The connection may have been lost this long before it was noticed. Calls since then are all compared. */
const NOTICED_WITHIN_MS = 30_000
/** While the connection is lost, its readers are told repeatedly. */
const COMPARE_EVERY = "2 seconds"
const NAMED_AT_ONCE_MAX = 50

export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const recent = yield* RecentClosings
    const feed = yield* ChangeFeed
    const sql = yield* storeSql
    let lostAtMs: number | undefined

    /** Commits are lost from the end: before a part that is there, everything is there. */
    const compare = Effect.fnUntraced(function* (sinceMs: number) {
      const lost: Array<string> = []
      let closedAgain = 0
      for (const part of partsOf(recent.all())) {
        const again = yield* closeAgain(sql, part)
        const found = yield* recordLost(sql, part, true)
        closedAgain += again.length
        lost.push(...found)
        if (found.length + again.length === 0 && part[0]!.atMs < sinceMs) break
      }
      if (closedAgain > 0) {
        yield* Effect.logWarning(
          `The database lost the end of ${closedAgain} calls that were acknowledged. They were closed again by the same receipts.`
        )
      }
      for (let n = 0; n < lost.length; n += NAMED_AT_ONCE_MAX) {
        yield* Effect.logError(
          `The database lost ${lost.length} calls that were settled and acknowledged. They are not charged: ` +
            `${lost.slice(n, n + NAMED_AT_ONCE_MAX).join(", ")}. See docs/high-availability.md.`
        )
      }
    })

    const round = Effect.suspend(() => {
      if (lostAtMs === undefined) return Effect.void
      const since = lostAtMs - NOTICED_WITHIN_MS
      lostAtMs = undefined
      return Effect.catchCause(compare(since), (cause) =>
        Effect.andThen(
          Effect.logWarning("The last calls could not be compared with the database; it is tried again", cause),
          Effect.sync(() => (lostAtMs = since + NOTICED_WITHIN_MS))
        ).pipe(Effect.andThen(Cause.hasInterruptsOnly(cause) ? Effect.failCause(cause) : Effect.void))
      )
    })

    yield* feed.changes.pipe(
      Stream.filter(({ topic }) => topic === "everything"),
      Stream.runForEach(() => Effect.map(monotonicNowMs, (nowMs) => void (lostAtMs ??= nowMs))),
      Effect.forkScoped({ startImmediately: true })
    )
    yield* round.pipe(Effect.andThen(Effect.sleep(COMPARE_EVERY)), Effect.forever, Effect.forkScoped)
  })
).pipe(Layer.provide(RecentClosings.layer))

function* partsOf(closings: Iterable<ClosedTogether>): Generator<ReadonlyArray<ClosedTogether>> {
  let part: Array<ClosedTogether> = []
  let calls = 0
  for (const one of closings) {
    part.push(one)
    calls += one.calls
    if (calls < COMPARED_AT_ONCE_MAX) continue
    yield part
    part = []
    calls = 0
  }
  if (part.length > 0) yield part
}
