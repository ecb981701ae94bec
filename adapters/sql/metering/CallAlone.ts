/**
 * A single call as the parameters of `call_open_one` and `call_close_one` (migrations/ledger), and their results.
 */
import { PgTypes } from "@effect/sql-pg"
import { DateTime } from "effect"
import type { CloseCall, Closed, OpenCall, Opened } from "../../../domain/metering/CallStore.ts"
import { placeholders } from "./CallBatch.ts"
import { count, hexOrNull, openedAs, type OpenRow } from "./CallRows.ts"
import { ORIGIN_CODE, receiptOriginOf, statusCodeOf, uuidOfReceipt } from "../ledger/LedgerCodes.ts"

const { bool, bytea, int2, int4, int8, text, timestamptz, uuid } = PgTypes

export const OPEN = `SELECT * FROM call_open_one(${placeholders(14)})`
export const CLOSE = `SELECT * FROM call_close_one(${placeholders(22)})`

export const openParams = (call: OpenCall, again: boolean): ReadonlyArray<PgTypes.Parameter> => [
  bool(again),
  uuid(uuidOfReceipt(call.invocationId)),
  uuid(call.consumerId),
  uuid(call.providerId),
  uuid(call.toolId),
  text(call.toolName),
  int4(call.priceVersion),
  int8(call.holdAmount),
  int4(call.freeTierCalls),
  int2(ORIGIN_CODE[call.origin]),
  timestamptz(DateTime.toEpochMillis(call.openedAt)),
  timestamptz(DateTime.toEpochMillis(call.deadlineAt)),
  bytea(hexOrNull(call.idempotency?.keyHash)),
  bytea(hexOrNull(call.idempotency?.requestHash))
]

export const openedOf = (call: OpenCall, values: ReadonlyArray<unknown>): Opened => {
  const [code, amount, freeLeft, available, detail, body] = values
  return openedAs(call, { code, amount: amount ?? 0n, freeLeft, available, detail, body } as OpenRow)
}

export const closeParams = (call: CloseCall): ReadonlyArray<PgTypes.Parameter> => {
  const { answer, receipt } = call
  return [
    uuid(call.consumerId),
    uuid(uuidOfReceipt(receipt.receipt_id)),
    uuid(receipt.provider_id),
    uuid(receipt.tool_id),
    text(receipt.tool_name),
    timestamptz(Date.parse(receipt.timestamp)),
    timestamptz(Date.parse(receipt.created_at)),
    int4(receipt.duration_ms),
    int8(receipt.cost_microcents),
    int8(call.fee),
    int2(statusCodeOf(receipt.status, call.cause)),
    bytea(Buffer.from(receipt.signature, "hex")),
    int4(call.priceVersion),
    int2(receiptOriginOf(call)),
    int4(count(call.requestBytes)),
    int4(count(call.responseBytes)),
    int4(count(call.tokensInput)),
    int4(count(call.tokensOutput)),
    bool(call.usesFreeCall ?? receipt.status === "success"),
    int2(answer?.status ?? null),
    text(answer === undefined ? null : JSON.stringify(answer.headers)),
    bytea(answer === undefined ? null : Buffer.from(answer.body))
  ]
}

export const closedOf = (values: ReadonlyArray<unknown>): Closed => {
  const [available, held] = values as ReadonlyArray<bigint | null>
  return typeof available === "bigint"
    ? { _tag: "Closed", now: typeof held === "bigint", availableMicrocents: available }
    : { _tag: "AlreadyClosed" }
}
