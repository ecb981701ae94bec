/**
 * The parameters of `calls_open` and `calls_close` (migrations/ledger/OpenCalls.ts, CloseCalls.ts), and their results.
 */
import { PgTypes } from "@effect/sql-pg"
import { type DateTime, Effect } from "effect"
import { resetsAt } from "../../../domain/ledger/Budgets.ts"
import { feeOf } from "../../../domain/ledger/PlatformFee.ts"
import type { CloseCall, Closed, OpenCall, Opened } from "../../../domain/metering/CallStore.ts"
import type { LevelId } from "../../../domain/shared/Ids.ts"
import { zero } from "../../../domain/shared/Microcents.ts"
import { format } from "../../../domain/shared/Time.ts"
import {
  ORIGIN_CODE,
  PERIOD_CODE,
  receiptOfUuid,
  receiptOriginOf,
  statusCodeOf,
  uuidOfReceipt,
  wordOf
} from "../ledger/LedgerCodes.ts"
import { packedRequestId } from "../receipts/PostgresReceiptStore.ts"
import { bytes, column, type Field, OID, record, records } from "../shared/Columns.ts"
import type { LaneConnection } from "../shared/LaneConnection.ts"
import { type AnswerColumns, answerOf } from "./KeptAnswers.ts"

const HEX_DIGITS = 32

/**
 * The first half of the digest of an idempotency key or of its request. A row is only compared with those of the same
 * account, which gains nothing by a collision of its own keys or requests.
 */
export const storedDigest = (sha256Hex: string): string => sha256Hex.slice(0, HEX_DIGITS)

// The wallets of a batch of calls. The functions of migrations/ledger take them sorted, each once.

type Calls = ReadonlyArray<{ readonly consumerId: string }>

export const walletsOf = (calls: Calls): ReadonlyArray<string> =>
  calls.length === 1 ? [calls[0]!.consumerId] : [...new Set(calls.map((call) => call.consumerId))].toSorted()

/** Positions start at 1. */
const placesOf = (wallets: ReadonlyArray<string>): ReadonlyMap<string, number> =>
  new Map(wallets.map((id, i) => [id, i + 1]))

/** The total of each wallet, and what stands for those without calls. */
const totalsOf = <Call extends Calls[number]>(
  wallets: ReadonlyArray<string>,
  calls: ReadonlyArray<Call>,
  amountOf: (call: Call) => bigint,
  none: 0n | null
): PgTypes.Parameter => {
  const totals = new Map<string, bigint | null>(wallets.map((id) => [id, none]))
  for (const call of calls) totals.set(call.consumerId, (totals.get(call.consumerId) ?? 0n) + amountOf(call))
  return column([...totals.values()], OID.int8)
}

/** The first value that both functions return. */
export const balancesBefore = (values: unknown): ReadonlyArray<bigint> =>
  (values as ReadonlyArray<ReadonlyArray<bigint>>)[0]!

/** The available balance of a wallet after one more call of the batch, in the order of the batch. */
type AvailableAfter = (consumerId: string, change: bigint) => bigint

export const availableAfter = (wallets: ReadonlyArray<string>, before: ReadonlyArray<bigint>): AvailableAfter => {
  const running = new Map(wallets.map((id, i) => [id, before[i]!]))
  return (consumerId, change) => {
    const available = running.get(consumerId)! + change
    running.set(consumerId, available)
    return available
  }
}

/** Existing wallets, except those that could be locked now. */
const LOCKED = `SELECT w.consumer_id FROM wallets w WHERE w.consumer_id = ANY ($1) AND w.consumer_id <> ALL (ARRAY(
  SELECT f.consumer_id FROM wallets f WHERE f.consumer_id = ANY ($1) FOR NO KEY UPDATE SKIP LOCKED))`

/** The items of a batch that wait for a wallet which another transaction keeps locked. */
export const lockedOut = Effect.fnUntraced(function* <Item>(
  connection: LaneConnection,
  items: ReadonlyArray<Item>,
  walletOf: (item: Item) => string
) {
  const consumers = new Set(items.map(walletOf))
  const rows = yield* connection.query(LOCKED, [column([...consumers], OID.uuid)])
  const locked = new Set(rows.map(([consumerId]) => consumerId))
  return new Set(items.filter((item) => locked.has(walletOf(item))))
})

export const OPEN = "SELECT calls_open($1, $2, $3, false, $4, $5, $6, $7)"

/** This key has a kept response. It is read separately: those of a batch may exceed what the connection takes at once. */
export interface Kept {
  readonly _tag: "Kept"
}

/** `again`: an earlier attempt may have committed. `wallets`: null for a single call. */
export const openParams = (
  calls: ReadonlyArray<OpenCall>,
  wallets: ReadonlyArray<string> | null,
  again: boolean
): ReadonlyArray<unknown> => [
  ...flagsOf(calls, again),
  ...(wallets === null
    ? [record(openingOf(calls[0]!, 1, calls[0]!.freeTierCalls > 0 ? 1 : null)), ...NO_OPENINGS]
    : [null, column(wallets, OID.uuid), ...openingBatch(calls, wallets)])
]

/** `closeParams` names the wallets of these openings, with those of the closings. */
export const openWithClosingsParams = (
  calls: ReadonlyArray<OpenCall>,
  wallets: ReadonlyArray<string>,
  again: boolean
): ReadonlyArray<unknown> => [...flagsOf(calls, again), ...openingBatch(calls, wallets)]

const flagsOf = (calls: ReadonlyArray<OpenCall>, again: boolean): ReadonlyArray<unknown> => [
  PgTypes.bool(again),
  PgTypes.bool(calls.some((call) => call.idempotency !== undefined)),
  PgTypes.bool(calls.some((call) => call.freeTierCalls > 0))
]

const openingBatch = (calls: ReadonlyArray<OpenCall>, wallets: ReadonlyArray<string>): ReadonlyArray<unknown> => {
  const places = placesOf(wallets)
  const tiers = new Map<string, number>()
  return [
    totalsOf(wallets, calls, (call) => call.holdAmount, null),
    records(calls.map((call) => openingOf(call, places.get(call.consumerId)!, tierOf(tiers, call))))
  ]
}

const NO_OPENINGS = [column(null, OID.uuid), column(null, OID.int8), null]

/** Calls of one consumer, tool and month share a free tier. */
const tierOf = (tiers: Map<string, number>, call: OpenCall): number | null => {
  if (call.freeTierCalls === 0) return null
  const name = `${call.consumerId} ${call.toolId} ${monthOf(call.openedAt)}`
  const place = tiers.get(name) ?? tiers.size + 1
  tiers.set(name, place)
  return place
}

/** The first day of the calendar month, UTC. */
export const monthOf = (instant: DateTime.Utc): string => `${format(instant).slice(0, 7)}-01`

const openingOf = (call: OpenCall, wallet: number, tier: number | null): ReadonlyArray<Field> => [
  wallet,
  tier,
  call.freeTierCalls,
  uuidOfReceipt(call.invocationId),
  call.consumerId,
  call.providerId,
  call.toolId,
  call.toolName,
  call.priceVersion,
  call.feeBasisPoints,
  ORIGIN_CODE[call.origin],
  call.openedAt.epochMilliseconds,
  call.deadlineAt.epochMilliseconds,
  digest(call.idempotency?.keyHash),
  digest(call.idempotency?.requestHash),
  call.holdAmount,
  false,
  null,
  call.levels === undefined || call.levels.length === 0 ? null : `{${call.levels.toReversed().join(",")}}`
]

const digest = (hash: string | undefined): Field => bytes(hash === undefined ? undefined : storedDigest(hash))

/** The single row that the function returns. All but the first are null where every call was opened at its price. */
type OpenValues = readonly [
  before: ReadonlyArray<bigint>,
  codes: ReadonlyArray<number> | null,
  available: ReadonlyArray<bigint> | null,
  freeLeft: ReadonlyArray<number | null> | null,
  details: ReadonlyArray<string | null> | null,
  body: Uint8Array | null
]

export const openedOf = (
  calls: ReadonlyArray<OpenCall>,
  values: unknown,
  left: AvailableAfter
): ReadonlyArray<Opened | Kept> => {
  const [, codes, available, freeLeft, details, body] = values as OpenValues
  if (codes === null) return calls.map((call) => openedAt(call, left(call.consumerId, -call.holdAmount)))
  return calls.map((call, i) =>
    resultOf(call, codes[i]!, available![i]!, freeLeft![i] ?? undefined, details![i] ?? "", body)
  )
}

const openedAt = (call: OpenCall, availableMicrocents: bigint): Opened => ({
  _tag: "Opened",
  held: call.holdAmount,
  free: false,
  freeCallsLeft: undefined,
  availableMicrocents
})

const resultOf = (
  call: OpenCall,
  code: number,
  availableMicrocents: bigint,
  freeCallsLeft: number | undefined,
  detail: string,
  body: Uint8Array | null
): Opened | Kept => {
  switch (code) {
    case 0:
      return { _tag: "Opened", held: call.holdAmount, free: false, freeCallsLeft, availableMicrocents }
    case 1:
      return { _tag: "Opened", held: zero, free: true, freeCallsLeft, availableMicrocents }
    case 2:
      return { _tag: "InsufficientFunds", availableMicrocents, neededMicrocents: call.holdAmount }
    case 3:
      return budgetExceeded(call, detail)
    case 4:
      return body === null ? { _tag: "Kept" } : replay(detail, body)
    case 5:
      return { _tag: "IdempotencyConflict" }
    case 6:
      return { _tag: "InFlight", invocationId: receiptOfUuid(detail) }
    case 7:
      return { _tag: "AccountFrozen" }
    default:
      throw new Error(`calls_open returned the unknown code ${code}`)
  }
}

const replay = (detail: string, body: Uint8Array): Opened => {
  const { headers, status }: { readonly headers: string | null; readonly status: number } = JSON.parse(detail)
  return { _tag: "Replay", answer: answerOf(status, { headers, body }) }
}

interface BudgetDetail {
  readonly id: string
  readonly level: LevelId | null
  /** Its period. */
  readonly of: number
  readonly cap: string
  readonly spent: string
  readonly held: string
}

const budgetExceeded = (call: OpenCall, detail: string): Opened => {
  const budget: BudgetDetail = JSON.parse(detail)
  const [cap, spent, held] = [BigInt(budget.cap), BigInt(budget.spent), BigInt(budget.held)]
  const left = cap - spent - held
  const period = wordOf(PERIOD_CODE, budget.of)
  return {
    _tag: "BudgetExceeded",
    budgetId: budget.id,
    levelId: budget.level ?? undefined,
    period,
    capMicrocents: cap,
    spentMicrocents: spent,
    heldMicrocents: held,
    leftMicrocents: left > 0n ? left : 0n,
    resetsAt: resetsAt(period, call.openedAt)
  }
}

export interface StoredClosing extends CloseCall {
  readonly stored: AnswerColumns | undefined
}

const GIVEN = "$1, $2, $3, $4, $5, $6, $7, $8, $9, $10"
export const CLOSE = `SELECT calls_close(${GIVEN}, NULL)`

/**
 * Closings come first: openings may hold what they release. The wallets are locked and changed once for both, unless the
 * openings come again or may be free: then `calls_open` decides about each.
 */
export const CLOSE_AND_OPEN = `SELECT c, o FROM calls_close(${GIVEN}, CASE WHEN $11 OR $13 THEN NULL ELSE $14 END) c,
  LATERAL calls_open($11, $12, $13, c.prices_held, NULL, $2, $14, $15) o`

/** Sorted by receipt. `wallets`: theirs, and those of the calls that are opened in the same statement; null for a single call. */
export const closeParams = (
  calls: ReadonlyArray<StoredClosing>,
  wallets: ReadonlyArray<string> | null
): ReadonlyArray<unknown> => [
  ...(wallets === null ? [record(closingOf(calls[0]!, 0)), ...NO_CLOSINGS] : closingBatch(calls, wallets)),
  column(
    calls.some(({ stored }) => stored !== undefined) ? calls.map(({ stored }) => stored?.body ?? null) : null,
    OID.bytea
  )
]

const NO_CLOSINGS = [
  ...[OID.uuid, OID.int8, OID.int8, OID.uuid, OID.uuid, OID.int8, OID.int2].map((oid) => column(null, oid)),
  null
]

const closingBatch = (calls: ReadonlyArray<StoredClosing>, wallets: ReadonlyArray<string>): ReadonlyArray<unknown> => [
  null,
  column(wallets, OID.uuid),
  totalsOf(wallets, calls, (call) => call.receipt.cost_microcents, 0n),
  totalsOf(wallets, calls, (call) => call.held ?? 0n, 0n),
  column(
    calls.map(({ receipt }) => uuidOfReceipt(receipt.receipt_id)),
    OID.uuid
  ),
  column(
    calls.map(({ consumerId }) => consumerId),
    OID.uuid
  ),
  column(calls.map(expectedHold), OID.int8),
  column(
    calls.map(({ feeBasisPoints }) => feeBasisPoints),
    OID.int2
  ),
  records(calls.map(closingOf))
]

/** The calls of `closeParams` as the elements of one array, without its braces. */
export const rowsIn = (params: ReadonlyArray<unknown>): string => {
  const [one, many] = [params[0], params[8]]
  return typeof one === "string" ? `"${one.replace(/["\\]/gu, "\\$&")}"` : (many as string).slice(1, -1)
}

/** Unknown where it would not cover the cost: the function then compares the cost with what is held. */
const expectedHold = ({ held, receipt }: CloseCall): bigint | null =>
  held === undefined || held < receipt.cost_microcents ? null : held

const closingOf = (call: StoredClosing, i: number): ReadonlyArray<Field> => {
  const { answer, receipt, stored } = call
  return [
    i + 1,
    uuidOfReceipt(receipt.receipt_id),
    call.consumerId,
    receipt.provider_id,
    receipt.tool_id,
    Date.parse(receipt.timestamp),
    Date.parse(receipt.created_at),
    receipt.cost_microcents,
    feeOf(receipt.cost_microcents, call.feeBasisPoints),
    call.feeBasisPoints,
    expectedHold(call),
    receipt.duration_ms,
    call.priceVersion,
    count(call.requestBytes),
    count(call.responseBytes),
    count(call.tokensInput),
    count(call.tokensOutput),
    statusCodeOf(receipt.status, call.cause),
    receiptOriginOf(call),
    bytes(receipt.signature),
    receipt.tool_name,
    call.usesFreeCall ?? receipt.status === "success",
    answer?.status,
    stored?.headers ?? null,
    call.holdMs,
    call.requestId === undefined ? null : packedRequestId(call.requestId)
  ]
}

const INT4_MAX = 2_147_483_647

/** Reported numbers are counted up to the maximum of an int4. */
const count = (n = 0): number => (n > 0 ? Math.min(Math.trunc(n), INT4_MAX) : 0)

/** The single row that the function returns; `same` is null where every receipt is the one that closed its call. */
type CloseValues = readonly [
  before: ReadonlyArray<bigint>,
  holds: ReadonlyArray<bigint | null>,
  same: ReadonlyArray<boolean> | null
]

export const closedOf = (
  calls: ReadonlyArray<CloseCall>,
  values: unknown,
  left: AvailableAfter
): ReadonlyArray<Closed> => {
  const [, holds, same] = values as CloseValues
  return calls.map(({ consumerId, receipt }, i) => {
    if (same?.[i] === false) return { _tag: "AlreadyClosed" }
    const held = holds[i]
    const now = typeof held === "bigint"
    return { _tag: "Closed", now, availableMicrocents: left(consumerId, now ? held - receipt.cost_microcents : 0n) }
  })
}
