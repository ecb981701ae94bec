/**
 * Types of ids. No id contains `|`, the separator of a receipt's signed bytes.
 */
import { Schema } from "effect"

/** A UUID in lower case, with its hyphens. */
export const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/u
/** The form of every id that is a UUID. */
export const Uuid = Schema.String.check(Schema.isPattern(uuid, { message: "must be a UUID in lower case" }))

/** Identifies a provider. It is a UUID; the handle in names of tools may change, this does not. */
export const ProviderId = Uuid.pipe(Schema.brand("ProviderId"))
export type ProviderId = typeof ProviderId.Type

/** Identifies a consumer. It is a UUID, and the `agent_id` of receipts. */
export const ConsumerId = Uuid.pipe(Schema.brand("ConsumerId"))
export type ConsumerId = typeof ConsumerId.Type

/** Identifies a tool. It is a UUID, and stays the same when the tool's name or price changes. */
export const ToolId = Uuid.pipe(Schema.brand("ToolId"))
export type ToolId = typeof ToolId.Type

/** Identifies an API key without revealing it. It is a UUID. */
export const KeyId = Uuid.pipe(Schema.brand("KeyId"))
export type KeyId = typeof KeyId.Type

/** Identifies a level of an account: a team, a key with bounds, or a run. It is a UUID. */
export const LevelId = Uuid.pipe(Schema.brand("LevelId"))
export type LevelId = typeof LevelId.Type

/** Ours have 32 digits; other issuers of receipts in this format have as few as 16. */
const receiptId = /^rcpt_[0-9a-f]{16,}$/u

/** Identifies a call from the moment it is opened, and later its receipt: `rcpt_` and hex digits. */
export const ReceiptId = Schema.String.check(
  Schema.isPattern(receiptId, { message: "must be `rcpt_` and at least 16 lowercase hex digits" })
).pipe(Schema.brand("ReceiptId"))
export type ReceiptId = typeof ReceiptId.Type

export const isReceiptId = (text: string): text is ReceiptId => receiptId.test(text)

/** Only ids of this form are stored. */
export const isIssuedReceiptId = (text: string): text is ReceiptId => /^rcpt_[0-9a-f]{32}$/u.test(text)

/**
 * A call's id from a new UUID. Its last four digits are the platform fee in basis points. Valid by construction, so the hot
 * path does not check it.
 */
export const receiptIdOf = (uuid: string, feeBasisPoints: number): ReceiptId =>
  `rcpt_${uuid.slice(0, 32).replaceAll("-", "")}${feeBasisPoints.toString(16).padStart(4, "0")}` as ReceiptId

/** Identifies a grant. It is a UUID. */
export const GrantId = Uuid.pipe(Schema.brand("GrantId"))
export type GrantId = typeof GrantId.Type

/** Identifies a load. It is a UUID, and the idempotency key of its checkout. */
export const LoadId = Uuid.pipe(Schema.brand("LoadId"))
export type LoadId = typeof LoadId.Type

/** Identifies a withdrawal. It is a UUID. */
export const WithdrawalId = Uuid.pipe(Schema.brand("WithdrawalId"))
export type WithdrawalId = typeof WithdrawalId.Type

/** Identifies a part of a withdrawal. It is a UUID, and the idempotency key of its refund. */
export const WithdrawalPartId = Uuid.pipe(Schema.brand("WithdrawalPartId"))
export type WithdrawalPartId = typeof WithdrawalPartId.Type

/** Identifies a payout. It is a UUID, and the idempotency key of its transfer. */
export const PayoutId = Uuid.pipe(Schema.brand("PayoutId"))
export type PayoutId = typeof PayoutId.Type

/** Identifies an invoice or a statement. It is a UUID; its number for people is another field. */
export const InvoiceId = Uuid.pipe(Schema.brand("InvoiceId"))
export type InvoiceId = typeof InvoiceId.Type
