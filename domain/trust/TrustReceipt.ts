/**
 * The part of a logged receipt that SLA and trust score use.
 */
import type { SequencedReceipt } from "../log/LogStore.ts"

export type TrustReceipt = Pick<SequencedReceipt, "cause" | "receipt">
