/**
 * A batch of calls as the parameters of `calls_open_batch` and `calls_close_batch` (migration 0002), and their answers.
 */
import { DateTime } from "effect"
import type { CloseCall, Closed, OpenCall, Opened } from "../../domain/metering/CallStore.ts"
import { format } from "../../domain/shared/Timestamp.ts"
import { count, hexOrNull, openedAs } from "./CallRows.ts"
import { column, OID } from "./Columns.ts"
import { ORIGIN_CODE, STATUS_CODE, uuidOfReceipt } from "./LedgerCodes.ts"

/** Sorted, as both functions want them; an item names its wallet by its place, counted from 1. */
export interface Wallets {
  readonly ids: ReadonlyArray<string>
  readonly placeOf: ReadonlyMap<string, number>
}

export const walletsOf = (calls: ReadonlyArray<{ readonly consumerId: string }>): Wallets => {
  const ids = [...new Set(calls.map((call) => call.consumerId))].toSorted()
  return { ids, placeOf: new Map(ids.map((id, i) => [id, i + 1])) }
}

/** The single row that each function answers. */
export interface BatchRow {
  readonly available: ReadonlyArray<bigint>
  readonly codes: ReadonlyArray<number> | null
  readonly amounts: ReadonlyArray<bigint | null>
  readonly freeLeft: ReadonlyArray<number | null> | null
  readonly aloneAvailable: ReadonlyArray<bigint | null> | null
  readonly details: ReadonlyArray<string | null> | null
  readonly bodies: ReadonlyArray<Uint8Array | null> | null
}

export const rowOf = (values: ReadonlyArray<unknown>): BatchRow => {
  const [available, codes, amounts, freeLeft, aloneAvailable, details, bodies] = values
  return { available, codes, amounts, freeLeft, aloneAvailable, details, bodies } as BatchRow
}

export const OPEN = `calls_open_batch(${placeholders(1, 20)})`
export const CLOSE = `calls_close_batch(${placeholders(1, 23)})`
export const OPEN_AFTER_CLOSE = `calls_open_batch(${placeholders(24, 20)})`

export const openParams = (
  wallets: Wallets,
  calls: ReadonlyArray<OpenCall>,
  again: boolean
): ReadonlyArray<unknown> => {
  const keyed = calls.some((call) => call.idempotency !== undefined)
  return [
    column(wallets.ids, OID.uuid),
    again,
    column(
      calls.map((call) => wallets.placeOf.get(call.consumerId)),
      OID.int4
    ),
    column(
      calls.map((call) => uuidOfReceipt(call.invocationId)),
      OID.uuid
    ),
    column(
      calls.map((call) => call.providerId),
      OID.uuid
    ),
    column(
      calls.map((call) => call.toolId),
      OID.uuid
    ),
    column(
      calls.map((call) => call.toolName),
      OID.text
    ),
    column(
      calls.map((call) => call.priceVersion),
      OID.int4
    ),
    column(
      calls.map((call) => call.holdAmount),
      OID.int8
    ),
    column(
      calls.map((call) => ORIGIN_CODE[call.origin]),
      OID.int2
    ),
    column(
      calls.map((call) => DateTime.toEpochMillis(call.openedAt)),
      OID.timestamptz
    ),
    column(
      calls.map((call) => DateTime.toEpochMillis(call.deadlineAt)),
      OID.timestamptz
    ),
    column(keyed ? calls.map((call) => hexOrNull(call.idempotency?.keyHash)) : null, OID.bytea),
    column(keyed ? calls.map((call) => hexOrNull(call.idempotency?.requestHash)) : null, OID.bytea),
    ...tierParams(wallets, calls)
  ]
}

/** The calendar month, UTC, by its first day. */
export const monthOf = (instant: DateTime.Utc): string => `${format(instant).slice(0, 7)}-01`

/** Calls of one consumer, tool and month share a free tier, and are counted within it. */
const tierParams = (wallets: Wallets, calls: ReadonlyArray<OpenCall>): ReadonlyArray<unknown> => {
  const tiers = new Map<
    string,
    { readonly place: number; readonly call: OpenCall; readonly month: string; calls: number }
  >()
  const tierOf: Array<number | null> = []
  const ranks: Array<number | null> = []
  for (const call of calls) {
    if (call.freeTierCalls === 0) {
      tierOf.push(null)
      ranks.push(null)
      continue
    }
    const month = monthOf(call.openedAt)
    const name = `${call.consumerId} ${call.toolId} ${month}`
    const tier = tiers.get(name) ?? { place: tiers.size + 1, call, month, calls: 0 }
    tiers.set(name, tier)
    tierOf.push(tier.place)
    ranks.push(++tier.calls)
  }
  if (tiers.size === 0)
    return [OID.int4, OID.int4, OID.int4, OID.int4, OID.uuid, OID.date].map((oid) => column(null, oid))
  const all = [...tiers.values()]
  return [
    column(tierOf, OID.int4),
    column(ranks, OID.int4),
    column(
      calls.map((call) => call.freeTierCalls),
      OID.int4
    ),
    column(
      all.map((tier) => wallets.placeOf.get(tier.call.consumerId)),
      OID.int4
    ),
    column(
      all.map((tier) => tier.call.toolId),
      OID.uuid
    ),
    column(
      all.map((tier) => tier.month),
      OID.date
    )
  ]
}

export const openedOf = (wallets: Wallets, calls: ReadonlyArray<OpenCall>, row: BatchRow): ReadonlyArray<Opened> => {
  const available = [...row.available]
  return calls.map((call, i): Opened => {
    const amount = row.amounts[i] ?? 0n
    const place = wallets.placeOf.get(call.consumerId)! - 1
    const detail = row.details?.[i] ?? null
    const body = row.bodies?.[i] ?? null
    const left = row.aloneAvailable?.[i] ?? (available[place]! -= amount)
    const code = row.codes?.[i] ?? 0
    return openedAs(call, { code, amount, freeLeft: row.freeLeft?.[i] ?? null, available: left, detail, body })
  })
}

/** `calls` sorted by receipt. */
export const closeParams = (wallets: Wallets, calls: ReadonlyArray<CloseCall>): ReadonlyArray<unknown> => {
  const answered = calls.some((call) => call.answer !== undefined)
  return [
    column(wallets.ids, OID.uuid),
    column(
      calls.map((call) => wallets.placeOf.get(call.consumerId)),
      OID.int4
    ),
    column(
      calls.map((call) => uuidOfReceipt(call.receipt.receipt_id)),
      OID.uuid
    ),
    column(
      calls.map((call) => call.receipt.provider_id),
      OID.uuid
    ),
    column(
      calls.map((call) => call.receipt.tool_id),
      OID.uuid
    ),
    column(
      calls.map((call) => call.receipt.tool_name),
      OID.text
    ),
    column(
      calls.map((call) => Date.parse(call.receipt.timestamp)),
      OID.timestamptz
    ),
    column(
      calls.map((call) => Date.parse(call.receipt.created_at)),
      OID.timestamptz
    ),
    column(
      calls.map((call) => call.receipt.duration_ms),
      OID.int4
    ),
    column(
      calls.map((call) => call.receipt.cost_microcents),
      OID.int8
    ),
    column(
      calls.map((call) => call.fee),
      OID.int8
    ),
    column(
      calls.map((call) => STATUS_CODE[call.receipt.status]),
      OID.int2
    ),
    column(
      calls.map((call) => Buffer.from(call.receipt.signature, "hex")),
      OID.bytea
    ),
    column(
      calls.map((call) => call.priceVersion),
      OID.int4
    ),
    column(
      calls.map((call) => ORIGIN_CODE[call.origin]),
      OID.int2
    ),
    column(
      calls.map((call) => count(call.requestBytes)),
      OID.int4
    ),
    column(
      calls.map((call) => count(call.responseBytes)),
      OID.int4
    ),
    column(
      calls.map((call) => count(call.tokensInput)),
      OID.int4
    ),
    column(
      calls.map((call) => count(call.tokensOutput)),
      OID.int4
    ),
    column(
      calls.map((call) => call.usesFreeCall ?? call.receipt.status === "success"),
      OID.bool
    ),
    column(answered ? calls.map((call) => call.answer?.status ?? null) : null, OID.int2),
    column(
      answered ? calls.map((call) => (call.answer === undefined ? null : JSON.stringify(call.answer.headers))) : null,
      OID.text
    ),
    column(
      answered ? calls.map((call) => (call.answer === undefined ? null : Buffer.from(call.answer.body))) : null,
      OID.bytea
    )
  ]
}

export const closedOf = (wallets: Wallets, calls: ReadonlyArray<CloseCall>, row: BatchRow): ReadonlyArray<Closed> => {
  const available = [...row.available]
  return calls.map((call, i): Closed => {
    if (row.codes?.[i] === 1) return { _tag: "AlreadyClosed" }
    const held = row.amounts[i]
    const place = wallets.placeOf.get(call.consumerId)! - 1
    if (typeof held === "bigint") available[place]! += held - call.receipt.cost_microcents
    return { _tag: "Closed", now: typeof held === "bigint", availableMicrocents: available[place]! }
  })
}

export function placeholders(first: number, many: number): string {
  return Array.from({ length: many }, (_, i) => `$${first + i}`).join(", ")
}
