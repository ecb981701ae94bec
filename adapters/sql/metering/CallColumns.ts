/**
 * The columns of a batch of calls, in the parameter order of `calls_settle_batch` (migrations/ledger/SettleCalls.ts).
 */
import { DateTime } from "effect"
import type { CloseCall, OpenCall } from "../../../domain/metering/CallStore.ts"
import { format } from "../../../domain/shared/Timestamp.ts"
import { count, hexOrNull } from "./CallRows.ts"
import { column, OID } from "../shared/Columns.ts"
import { ORIGIN_CODE, receiptOriginOf, statusCodeOf, uuidOfReceipt } from "../ledger/LedgerCodes.ts"

/** Sorted, as the function requires. An item refers to its wallet by position, starting at 1. */
export interface Wallets {
  readonly ids: ReadonlyArray<string>
  readonly placeOf: ReadonlyMap<string, number>
}

type Columns<Call> = ReadonlyArray<readonly [elementOid: number, value: (call: Call) => unknown]>

const CLOSES: Columns<CloseCall> = [
  [OID.uuid, ({ receipt }) => uuidOfReceipt(receipt.receipt_id)],
  [OID.uuid, ({ receipt }) => receipt.provider_id],
  [OID.uuid, ({ receipt }) => receipt.tool_id],
  [OID.text, ({ receipt }) => receipt.tool_name],
  [OID.timestamptz, ({ receipt }) => Date.parse(receipt.timestamp)],
  [OID.timestamptz, ({ receipt }) => Date.parse(receipt.created_at)],
  [OID.int4, ({ receipt }) => receipt.duration_ms],
  [OID.int8, ({ receipt }) => receipt.cost_microcents],
  [OID.int8, ({ fee }) => fee],
  [OID.int2, ({ cause, receipt }) => statusCodeOf(receipt.status, cause)],
  [OID.bytea, ({ receipt }) => Buffer.from(receipt.signature, "hex")],
  [OID.int4, ({ priceVersion }) => priceVersion],
  [OID.int2, receiptOriginOf],
  [OID.int4, ({ requestBytes }) => count(requestBytes)],
  [OID.int4, ({ responseBytes }) => count(responseBytes)],
  [OID.int4, ({ tokensInput }) => count(tokensInput)],
  [OID.int4, ({ tokensOutput }) => count(tokensOutput)],
  [OID.bool, ({ receipt, usesFreeCall }) => usesFreeCall ?? receipt.status === "success"]
]

/** Responses to keep, of calls with an idempotency key. */
const ANSWERS: Columns<CloseCall> = [
  [OID.int2, ({ answer }) => answer?.status ?? null],
  [OID.text, ({ answer }) => (answer === undefined ? null : JSON.stringify(answer.headers))],
  [OID.bytea, ({ answer }) => (answer === undefined ? null : Buffer.from(answer.body))]
]

const OPENS: Columns<OpenCall> = [
  [OID.uuid, ({ invocationId }) => uuidOfReceipt(invocationId)],
  [OID.uuid, ({ providerId }) => providerId],
  [OID.uuid, ({ toolId }) => toolId],
  [OID.text, ({ toolName }) => toolName],
  [OID.int4, ({ priceVersion }) => priceVersion],
  [OID.int8, ({ holdAmount }) => holdAmount],
  [OID.int2, ({ origin }) => ORIGIN_CODE[origin]],
  [OID.timestamptz, ({ openedAt }) => DateTime.toEpochMillis(openedAt)],
  [OID.timestamptz, ({ deadlineAt }) => DateTime.toEpochMillis(deadlineAt)]
]

const KEYS: Columns<OpenCall> = [
  [OID.bytea, ({ idempotency }) => hexOrNull(idempotency?.keyHash)],
  [OID.bytea, ({ idempotency }) => hexOrNull(idempotency?.requestHash)]
]

/** Null where no call of the batch needs the columns: the function skips null. */
const written = <Call>(columns: Columns<Call>, calls: ReadonlyArray<Call>, needed = calls.length > 0) =>
  columns.map(([elementOid, value]) => column(needed ? calls.map(value) : null, elementOid))

const places = (wallets: Wallets, calls: ReadonlyArray<{ readonly consumerId: string }>) =>
  column(
    calls.map(({ consumerId }) => wallets.placeOf.get(consumerId)),
    OID.int4
  )

/** The expected changes of each wallet, and the hold of each closing that they assume. */
export const expectedColumns = (
  { ids, placeOf }: Wallets,
  closes: ReadonlyArray<CloseCall>,
  opens: ReadonlyArray<OpenCall>
): ReadonlyArray<unknown> => {
  const debits = ids.map(() => 0n)
  const heldChanges = ids.map(() => 0n)
  for (const { consumerId, held, receipt } of closes) {
    const place = placeOf.get(consumerId)! - 1
    debits[place]! += receipt.cost_microcents
    heldChanges[place]! -= held ?? 0n
  }
  for (const { consumerId, holdAmount } of opens) heldChanges[placeOf.get(consumerId)! - 1]! += holdAmount
  return [
    column(debits, OID.int8),
    column(heldChanges, OID.int8),
    ...written([[OID.int8, ({ held }) => held ?? null]], closes)
  ]
}

export const closeColumns = (wallets: Wallets, calls: ReadonlyArray<CloseCall>): ReadonlyArray<unknown> => [
  places(wallets, calls),
  ...written(CLOSES, calls),
  ...written(
    ANSWERS,
    calls,
    calls.some((call) => call.answer !== undefined)
  )
]

export const openColumns = (wallets: Wallets, calls: ReadonlyArray<OpenCall>): ReadonlyArray<unknown> => [
  places(wallets, calls),
  ...written(OPENS, calls),
  ...written(
    KEYS,
    calls,
    calls.some((call) => call.idempotency !== undefined)
  ),
  ...tierColumns(wallets, calls)
]

/** The first day of the calendar month, UTC. */
export const monthOf = (instant: DateTime.Utc): string => `${format(instant).slice(0, 7)}-01`

interface Tier {
  readonly place: number
  readonly call: OpenCall
  readonly month: string
  calls: number
}

const NO_TIERS = [OID.int4, OID.int4, OID.int4, OID.int4, OID.uuid, OID.date].map((elementOid) =>
  column(null, elementOid)
)

/** Calls of the same consumer, tool and month share a free tier and are ranked within it. */
const tierColumns = (wallets: Wallets, calls: ReadonlyArray<OpenCall>): ReadonlyArray<unknown> => {
  if (calls.every((call) => call.freeTierCalls === 0)) return NO_TIERS
  const tiers = new Map<string, Tier>()
  const ranked = calls.map((call): readonly [place: number | null, rank: number | null] => {
    if (call.freeTierCalls === 0) return [null, null]
    const month = monthOf(call.openedAt)
    const name = `${call.consumerId} ${call.toolId} ${month}`
    const tier = tiers.get(name) ?? { place: tiers.size + 1, call, month, calls: 0 }
    tiers.set(name, tier)
    return [tier.place, ++tier.calls]
  })
  const ofCalls: Columns<(typeof ranked)[number]> = [
    [OID.int4, ([place]) => place],
    [OID.int4, ([, rank]) => rank]
  ]
  const limits: Columns<OpenCall> = [[OID.int4, ({ freeTierCalls }) => freeTierCalls]]
  const ofTiers: Columns<Tier> = [
    [OID.int4, ({ call }) => wallets.placeOf.get(call.consumerId)],
    [OID.uuid, ({ call }) => call.toolId],
    [OID.date, ({ month }) => month]
  ]
  return [...written(ofCalls, ranked), ...written(limits, calls), ...written(ofTiers, [...tiers.values()])]
}
