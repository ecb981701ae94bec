/**
 * Types of ids. No id contains `|`, the separator of a receipt's signed bytes.
 */
import { Schema } from "effect"

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/u
/** The form of every id that is a UUID. */
export const Uuid = Schema.String.check(Schema.isPattern(uuid, { message: "must be a UUID in lower case" }))

export const ProviderId = Uuid.pipe(Schema.brand("ProviderId"))
export type ProviderId = typeof ProviderId.Type

export const ConsumerId = Uuid.pipe(Schema.brand("ConsumerId"))
export type ConsumerId = typeof ConsumerId.Type

export const ToolId = Uuid.pipe(Schema.brand("ToolId"))
export type ToolId = typeof ToolId.Type

export const KeyId = Uuid.pipe(Schema.brand("KeyId"))
export type KeyId = typeof KeyId.Type

/** Ours have 32 digits; other issuers of receipts in this format have as few as 16. */
const receiptId = /^rcpt_[0-9a-f]{16,}$/u

export const ReceiptId = Schema.String.check(
  Schema.isPattern(receiptId, { message: "must be `rcpt_` and at least 16 lowercase hex digits" })
).pipe(Schema.brand("ReceiptId"))
export type ReceiptId = typeof ReceiptId.Type

export const isReceiptId = (text: string): text is ReceiptId => receiptId.test(text)

/** Only ids of this form are stored. */
export const isIssuedReceiptId = (text: string): text is ReceiptId => /^rcpt_[0-9a-f]{32}$/u.test(text)

/** A call's id from a new UUID. Valid by construction, so the hot path does not check it. */
export const receiptIdOf = (uuid: string): ReceiptId => `rcpt_${uuid.replaceAll("-", "")}` as ReceiptId

export const GrantId = Uuid.pipe(Schema.brand("GrantId"))
export type GrantId = typeof GrantId.Type

export const LoadId = Uuid.pipe(Schema.brand("LoadId"))
export type LoadId = typeof LoadId.Type

export const WithdrawalId = Uuid.pipe(Schema.brand("WithdrawalId"))
export type WithdrawalId = typeof WithdrawalId.Type

export const WithdrawalPartId = Uuid.pipe(Schema.brand("WithdrawalPartId"))
export type WithdrawalPartId = typeof WithdrawalPartId.Type

export const PayoutId = Uuid.pipe(Schema.brand("PayoutId"))
export type PayoutId = typeof PayoutId.Type

export const InvoiceId = Uuid.pipe(Schema.brand("InvoiceId"))
export type InvoiceId = typeof InvoiceId.Type
