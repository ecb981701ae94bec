/**
 * What SLA and trust score read of a receipt from the log.
 */
import type { SequencedReceipt } from "../log/LogStore.ts"

export type TrustReceipt = Pick<SequencedReceipt, "cause" | "receipt">
