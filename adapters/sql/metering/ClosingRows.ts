/**
 * Closings as the parameters of `calls_close` (migrations/ledger/CloseCalls.ts), and its results.
 */
import { feeOf } from "../../../domain/ledger/PlatformFee.ts"
import type { CloseCall, Closed } from "../../../domain/metering/CallStore.ts"
import { receiptOriginOf, statusCodeOf, uuidOfReceipt } from "../ledger/LedgerCodes.ts"
import { packedRequestId } from "../receipts/RequestIds.ts"
import { column, OID } from "../shared/Columns.ts"
import { bytes, type Field, record, records } from "../shared/Records.ts"
import type { AnswerColumns } from "./KeptAnswers.ts"
import { type AvailableAfter, totalsOf } from "./BatchWallets.ts"

/** With its answer as it is stored. */
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
  ...(wallets === null ? [record(rowOf(calls[0]!, 0)), ...NO_BATCH] : batchParams(calls, wallets)),
  column(
    calls.some(({ stored }) => stored !== undefined) ? calls.map(({ stored }) => stored?.body ?? null) : null,
    OID.bytea
  )
]

const NO_BATCH = [
  ...[OID.uuid, OID.int8, OID.int8, OID.uuid, OID.uuid, OID.int8, OID.int2].map((oid) => column(null, oid)),
  null
]

const batchParams = (calls: ReadonlyArray<StoredClosing>, wallets: ReadonlyArray<string>): ReadonlyArray<unknown> => [
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
  records(calls.map(rowOf))
]

/** The calls of `closeParams` as the elements of one array, without its braces. */
export const rowsIn = (params: ReadonlyArray<unknown>): string => {
  const [one, many] = [params[0], params[8]]
  return typeof one === "string" ? `"${one.replace(/["\\]/gu, "\\$&")}"` : (many as string).slice(1, -1)
}

/** Unknown where it would not cover the cost: the function then compares the cost with what is held. */
const expectedHold = ({ held, receipt }: CloseCall): bigint | null =>
  held === undefined || held < receipt.cost_microcents ? null : held

const rowOf = (call: StoredClosing, i: number): ReadonlyArray<Field> => {
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

/** What a provider reports is counted up to the maximum of an int4. */
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
