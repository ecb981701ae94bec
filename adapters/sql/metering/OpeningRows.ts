/**
 * Openings as the parameters of `calls_open` (migrations/ledger/OpenCalls.ts), and its results.
 */
import { PgTypes } from "@effect/sql-pg"
import { type DateTime, Effect } from "effect"
import { resetsAt } from "../../../domain/ledger/Budgets.ts"
import type { OpenCall, Opened } from "../../../domain/metering/CallStore.ts"
import { zero } from "../../../domain/shared/Microcents.ts"
import { format } from "../../../domain/shared/Time.ts"
import { ORIGIN_CODE, PERIOD_CODE, receiptOfUuid, uuidOfReceipt, wordOf } from "../ledger/LedgerCodes.ts"
import { column, OID } from "../shared/Columns.ts"
import type { LaneConnection } from "../shared/LaneConnection.ts"
import { bytes, type Field, record, records } from "../shared/Records.ts"
import { type AvailableAfter, placesOf, totalsOf } from "./BatchWallets.ts"
import { answerOf } from "./KeptAnswers.ts"
import { storedDigest } from "./KeyDigests.ts"

// Which items of a batch wait for a wallet that another transaction keeps locked.

/** Existing wallets, except those that could be locked now. */
const LOCKED = `SELECT w.consumer_id FROM wallets w WHERE w.consumer_id = ANY ($1) AND w.consumer_id <> ALL (ARRAY(
  SELECT f.consumer_id FROM wallets f WHERE f.consumer_id = ANY ($1) FOR NO KEY UPDATE SKIP LOCKED))`

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
    ? [record(rowOf(calls[0]!, 1, calls[0]!.freeTierCalls > 0 ? 1 : null)), ...NO_BATCH]
    : [null, column(wallets, OID.uuid), ...batchParams(calls, wallets)])
]

/** For openings whose wallets `closeParams` names, with those of the closings. */
export const openWithClosingsParams = (
  calls: ReadonlyArray<OpenCall>,
  wallets: ReadonlyArray<string>,
  again: boolean
): ReadonlyArray<unknown> => [...flagsOf(calls, again), ...batchParams(calls, wallets)]

const flagsOf = (calls: ReadonlyArray<OpenCall>, again: boolean): ReadonlyArray<unknown> => [
  PgTypes.bool(again),
  PgTypes.bool(calls.some((call) => call.idempotency !== undefined)),
  PgTypes.bool(calls.some((call) => call.freeTierCalls > 0))
]

const batchParams = (calls: ReadonlyArray<OpenCall>, wallets: ReadonlyArray<string>): ReadonlyArray<unknown> => {
  const places = placesOf(wallets)
  const tiers = new Map<string, number>()
  return [
    totalsOf(wallets, calls, (call) => call.holdAmount, null),
    records(calls.map((call) => rowOf(call, places.get(call.consumerId)!, tierOf(tiers, call))))
  ]
}

const NO_BATCH = [column(null, OID.uuid), column(null, OID.int8), null]

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

const rowOf = (call: OpenCall, wallet: number, tier: number | null): ReadonlyArray<Field> => [
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
  null
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

const budgetExceeded = (call: OpenCall, detail: string): Opened => {
  const budget: { readonly id: string; readonly cap: string; readonly left: string; readonly period: number } =
    JSON.parse(detail)
  return {
    _tag: "BudgetExceeded",
    budgetId: budget.id,
    capMicrocents: BigInt(budget.cap),
    leftMicrocents: BigInt(budget.left),
    resetsAt: resetsAt(wordOf(PERIOD_CODE, budget.period), call.openedAt)
  }
}
