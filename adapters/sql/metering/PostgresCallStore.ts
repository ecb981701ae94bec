/**
 * Calls in PostgreSQL. Openings and closings of all consumers share one lane and one connection: a batch is one
 * statement and one durable commit.
 *
 * Measured with 64 callers on two cores: one commit per batch makes 6 times as many calls as ten connections with a call
 * each, 12 times with one hot wallet. Two or three lanes, for each kind of step or for parts of the consumers, have
 * smaller batches and are 7 to 50 % slower.
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import type { SqlError } from "effect/sql"
import {
  type CallIdempotency,
  CallStore,
  type Closed,
  type Earlier,
  type OpenCall,
  type Opened,
  type OverdueCall,
  type Resumed,
  type StoredOutcome,
  type Suspended
} from "../../../domain/metering/CallStore.ts"
import type { ConsumerId, ToolId } from "../../../domain/shared/Ids.ts"
import { Microcents } from "../../../domain/shared/Microcents.ts"
import type { StoreUnavailable } from "../../../domain/shared/StoreUnavailable.ts"
import { ORIGIN_CODE, receiptOfUuid, uuidOfReceipt, wordOf } from "../ledger/LedgerCodes.ts"
import * as LaneConnection from "../shared/LaneConnection.ts"
import { rowReader, toDate } from "../shared/Rows.ts"
import { isNeverOpened, isOfSeveralShards } from "../shared/SqlFailures.ts"
import { pruneByKey, type StoreSql, storeSql } from "../shared/StoreSql.ts"
import {
  availableAfter,
  balancesBefore,
  CLOSE,
  CLOSE_AND_OPEN,
  closedOf,
  closeParams,
  type Kept,
  lockedOut,
  monthOf,
  OPEN,
  openedOf,
  openParams,
  openWithClosingsParams,
  rowsIn,
  type StoredClosing,
  storedDigest,
  walletsOf
} from "./CallRows.ts"
import * as GroupCommit from "../shared/GroupCommit.ts"
import { answerColumns, answerOf } from "./KeptAnswers.ts"
import { recordLost } from "./LostCalls.ts"
import { keyedOf, RecentClosings } from "./RecentClosings.ts"
import * as ShardLanes from "./ShardLanes.ts"

// Calls between two legs, in PostgreSQL. They are rare, so they use the pool instead of the lane of calls.

/** The places are the codes of `call_suspend` (migrations/ledger/SuspendCalls.ts). */
const SUSPENDED: ReadonlyArray<Suspended> = ["suspended", "too_many", "gone"]

interface ResumedRow {
  readonly held: bigint
  readonly free: boolean
  readonly free_calls_left: number | null
  readonly available: bigint
}

const suspending = (sql: StoreSql): Pick<CallStore["Service"], "suspend" | "mayWait" | "resume" | "extend"> => ({
  suspend: Effect.fn("PostgresCallStore.suspend")(({ consumerId, deadlineAt, invocationId, leg, max }) =>
    sql<{ readonly code: number }>`
      SELECT call_suspend(${uuidOfReceipt(invocationId)}, ${consumerId}, ${leg}::smallint, ${toDate(deadlineAt)}, ${max})
        AS code`.one(({ code }) => SUSPENDED[code]!)
  ),

  // The rule is that of `call_suspend`, without its lock: a call that is suspended in between counts there.
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

const BATCH_MAX = 512
/** Short batches spread bursts of calls: with 256 callers of a tool that takes 100 ms, 8 % more calls. */
const BATCH_ENOUGH = 16
/** Limits kept responses: a batch stays well below PostgreSQL's maximum message size. */
const BATCH_BYTES_MAX = 16 * 1024 * 1024
const QUEUE_MAX = 20_000

type Answered<A> = Effect.Effect<A, StoreUnavailable>

type Item =
  | { readonly _tag: "Open"; readonly call: OpenCall }
  | { readonly _tag: "Close"; readonly call: StoredClosing }

type Answer = Opened | Kept | Closed

const toOverdue = rowReader<OverdueCall>(
  { fee_bps: "feeBasisPoints" },
  { invocation_id: receiptOfUuid, origin: (code: number) => wordOf(ORIGIN_CODE, code) }
)

interface EarlierRow {
  readonly request_hash: Uint8Array
  readonly invocation_id: string
  readonly answer_status: number | null
  readonly answer_headers: string | null
  readonly answer_body: Uint8Array | null
}

/**
 * Without `recent`, closings are not kept for `LostCalls`, and to close a call that was never opened is a defect. A statement
 * without a response for longer than `silenceMs` is sent again over another connection.
 */
export const make = Effect.fnUntraced(function* (recent: RecentClosings["Service"] | undefined, silenceMs?: number) {
  const sql = yield* storeSql
  const makeLane = Effect.fnUntraced(function* (
    name: string,
    config: () => PgClient.PgClientConfig,
    forgetShards: Effect.Effect<void>
  ) {
    const connection = yield* LaneConnection.make(config, name, silenceMs)
    return yield* GroupCommit.make<Item, Answer>({
      name,
      batchMax: BATCH_MAX,
      batchEnough: BATCH_ENOUGH,
      batchWeightMax: BATCH_BYTES_MAX,
      weightOf: (item) => (item._tag === "Open" ? 0 : (item.call.stored?.body.length ?? 0)),
      // Its caller and the sweeper may close a call at the same time.
      keyOf: (item) => (item._tag === "Open" ? undefined : item.call.receipt.receipt_id),
      queueMax: QUEUE_MAX,
      lockedOut: (items) => lockedOut(connection, items, ({ call }) => call.consumerId),
      run: (items, again) =>
        Effect.tapError(settle(connection, recent, items, again), (error) =>
          isOfSeveralShards(error) ? forgetShards : Effect.void
        )
    })
  })
  const lane = yield* ShardLanes.make(({ call }: Item) => call.consumerId, makeLane)

  const earlier = Effect.fn("PostgresCallStore.earlier")(function* (
    consumerId: ConsumerId,
    { keyHash, requestHash }: CallIdempotency
  ) {
    const key = Buffer.from(storedDigest(keyHash), "hex")
    const [row] = yield* sql<EarlierRow>`
        SELECT request_hash, invocation_id, answer_status, answer_headers, answer_body FROM call_idempotency
        WHERE consumer_id = ${consumerId} AND key_hash = ${key}
        UNION ALL
        SELECT request_hash, invocation_id, NULL, NULL, NULL FROM calls_open
        WHERE consumer_id = ${consumerId} AND key_hash = ${key}`
    return row === undefined ? undefined : toEarlier(row, requestHash)
  })

  const open = (call: OpenCall): Effect.Effect<Opened, StoreUnavailable> =>
    Effect.flatMap(lane({ _tag: "Open", call }) as Answered<Opened | Kept>, (opened) =>
      opened._tag === "Kept" ? kept(call) : Effect.succeed(opened)
    )

  /** If the kept response was deleted meanwhile, its key is free. */
  const kept = (call: OpenCall): Effect.Effect<Opened, StoreUnavailable> =>
    Effect.flatMap(earlier(call.consumerId, call.idempotency!), (known) =>
      known === undefined ? open(call) : Effect.succeed(known)
    )

  /** A call is forwarded after its opening is durable, so a standby was promoted that lacks the opening. */
  const lostOpening = Effect.fnUntraced(function* (call: StoredClosing): Effect.fn.Return<Closed, StoreUnavailable> {
    const { receipt_id: receiptId } = call.receipt
    yield* recordLost(sql, [{ rows: rowsIn(closeParams([call], null)), keyed: keyedOf(call), unused: [] }], false)
    yield* Effect.logError(
      `The database lost the call ${receiptId} after it was forwarded. It is not charged, and its caller gets an error. ` +
        "See docs/high-availability.md."
    )
    return { _tag: "AlreadyClosed" }
  })

  return CallStore.of({
    open,

    // The answer is packed here, while the batch before is written.
    close: (call) =>
      Effect.suspend(() => {
        const stored = call.answer === undefined ? undefined : answerColumns(call.answer)
        const closing: StoredClosing = { ...call, stored }
        const closed = lane({ _tag: "Close", call: closing }) as Answered<Closed>
        if (recent === undefined) return closed
        return Effect.catchCause(closed, (cause) =>
          isNeverOpened(cause) ? lostOpening(closing) : Effect.failCause(cause)
        )
      }),

    ...suspending(sql),

    earlier,

    callFunds: Effect.fn("PostgresCallStore.callFunds")((consumerId, toolId, now) =>
      sql<{ readonly available: bigint; readonly used: number }>`
          SELECT coalesce((SELECT credits - debits - held FROM wallets WHERE consumer_id = ${consumerId}), 0) AS available,
            coalesce((SELECT used FROM free_tier_usage WHERE consumer_id = ${consumerId} AND tool_id = ${toolId}
              AND month = ${monthOf(now)}), 0) AS used`.one(({ available, used }) => ({
        availableMicrocents: available,
        freeCallsUsed: used
      }))
    ),

    freeCallsByTool: Effect.fn("PostgresCallStore.freeCallsByTool")(
      (consumerId, now, limit) => sql<{ readonly toolId: ToolId; readonly used: number }>`
          SELECT tool_id AS "toolId", used FROM free_tier_usage
          WHERE consumer_id = ${consumerId} AND month = ${monthOf(now)} AND used > 0
          ORDER BY used DESC, tool_id LIMIT ${limit}`
    ),

    outcome: Effect.fn("PostgresCallStore.outcome")((consumerId, invocationId) => {
      const id = uuidOfReceipt(invocationId)
      return sql<{ readonly open: boolean; readonly cost: bigint | null }>`
          SELECT EXISTS (SELECT 1 FROM calls_open WHERE invocation_id = ${id} AND consumer_id = ${consumerId}) AS open,
            (SELECT cost FROM receipts WHERE receipt_id = ${id} AND consumer_id = ${consumerId}) AS cost`.one(outcomeOf)
    }),

    overdue: Effect.fn("PostgresCallStore.overdue")((now, limit) =>
      sql`
          SELECT invocation_id, consumer_id, provider_id, tool_id, tool_name, price_version, fee_bps, origin,
            opened_at
          FROM calls_open WHERE deadline_at <= ${toDate(now)} ORDER BY deadline_at, invocation_id LIMIT ${limit}`.all(
        toOverdue
      )
    ),

    forget: Effect.fn("PostgresCallStore.forget")((before, limit) =>
      pruneByKey(sql, "call_idempotency", "consumer_id, key_hash", sql`created_at < ${toDate(before)}`, limit)
    ),

    pruneRetained: Effect.fn("PostgresCallStore.pruneRetained")(
      (before, limit) =>
        sql`
          UPDATE call_idempotency SET answer_body = '' WHERE (consumer_id, key_hash) IN (
            SELECT consumer_id, key_hash FROM call_idempotency
            WHERE answer_headers LIKE '{"left"%' AND answer_body <> '' AND created_at < ${toDate(before)} LIMIT ${limit})
          RETURNING 1 AS pruned`.unprepared.count
    )
  })
})

/** For a database that is not replicated. */
export const layer = Layer.effect(CallStore, make(undefined))

/** Keeps what it closed last, for `LostCalls`. */
export const layerKeeping = Layer.effect(
  CallStore,
  Effect.flatMap(RecentClosings, (recent) => make(recent))
).pipe(Layer.provide(RecentClosings.layer))

const settle = Effect.fnUntraced(function* (
  connection: LaneConnection.LaneConnection,
  recent: RecentClosings["Service"] | undefined,
  items: ReadonlyArray<Item>,
  again: boolean
): Effect.fn.Return<ReadonlyArray<Answer>, SqlError.SqlError> {
  const opens: Array<OpenCall> = []
  const closes: Array<StoredClosing> = []
  for (const item of items) {
    if (item._tag === "Open") opens.push(item.call)
    else closes.push(item.call)
  }
  const wallets = walletsOf(items.map(({ call }) => call))
  const batchWallets = items.length === 1 ? null : wallets
  if (closes.length === 0) {
    const [[opened] = []] = yield* connection.query(OPEN, openParams(opens, batchWallets, again))
    return openedOf(opens, opened, availableAfter(wallets, balancesBefore(opened)))
  }
  const sorted = closes.toSorted((a, b) => (a.receipt.receipt_id < b.receipt.receipt_id ? -1 : 1))
  const params = closeParams(sorted, batchWallets)
  const [[closed, opened] = []] =
    opens.length === 0
      ? yield* connection.query(CLOSE, params)
      : yield* connection.query(CLOSE_AND_OPEN, [...params, ...openWithClosingsParams(opens, wallets, again)])
  const left = availableAfter(wallets, balancesBefore(closed))
  const ofCloses = closedOf(sorted, closed, left)
  recent?.add(rowsIn(params), sorted, ofCloses)
  const ofOpens = opens.length === 0 ? [] : openedOf(opens, opened, left)
  const closedByCall = new Map(sorted.map((call, i) => [call, ofCloses[i]!]))
  let next = 0
  return items.map((item) => (item._tag === "Open" ? ofOpens[next++]! : closedByCall.get(item.call)!))
})

const toEarlier = (row: EarlierRow, requestHash: string): Earlier => {
  const request = Buffer.from(storedDigest(requestHash), "hex")
  if (!request.equals(row.request_hash)) return { _tag: "IdempotencyConflict" }
  if (row.answer_status === null) return { _tag: "InFlight", invocationId: receiptOfUuid(row.invocation_id) }
  return {
    _tag: "Replay",
    answer: answerOf(row.answer_status, { headers: row.answer_headers, body: row.answer_body! })
  }
}

const outcomeOf = (row: { readonly open: boolean; readonly cost: bigint | null }): StoredOutcome => {
  if (row.open) return { _tag: "Open" }
  return row.cost === null ? { _tag: "Unknown" } : { _tag: "Closed", cost: Microcents.make(row.cost) }
}
