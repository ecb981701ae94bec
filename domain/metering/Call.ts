/**
 * A call as its parts share it: what was requested, what it would cost, and how it ended.
 */
import type { CatalogEntry } from "../catalog/CatalogStore.ts"
import type { Receipt } from "../receipts/Receipt.ts"
import type { ConsumerId, ReceiptId } from "../shared/Ids.ts"
import type { Microcents } from "../shared/Microcents.ts"
import type { CallIdempotency, KeptResult } from "./CallStore.ts"
import type { Agreement } from "./CallTerms.ts"
import type { ToolReference } from "./ToolDirectory.ts"
import type { ToolProgress, UpstreamAnswer } from "./ToolUpstream.ts"

export interface CallRequest extends Agreement {
  readonly consumerId: ConsumerId
  readonly tool: ToolReference
  readonly arguments: Readonly<Record<string, unknown>>
  readonly idempotency: CallIdempotency | undefined
  /** The call has its name, under which it may or may not come to a receipt. */
  readonly onNamed?: (invocationId: ReceiptId) => void
  /** The hold stands; the provider is asked next. */
  readonly onHeld?: () => void
  /**
   * For a caller that gives the call a fiber of its own: it never interrupts that fiber before it has asked the function it
   * is given here, which says whether the call goes on without it.
   */
  readonly attend?: ((leave: () => boolean) => void) | undefined
  /** How far the tool says that it is, for callers that want to know. */
  readonly onProgress?: ((progress: ToolProgress) => void) | undefined
}

export interface CallQuote {
  readonly entry: CatalogEntry
  readonly cost: Microcents
  /** What would be reserved while the call is under way. */
  readonly hold: Microcents
  /** Before this call. */
  readonly freeCallsLeft: number | undefined
  readonly availableMicrocents: bigint
}

/** A finished call, settled. */
export interface CallReport {
  readonly entry: CatalogEntry
  readonly receipt: Receipt
  readonly answer: UpstreamAnswer
  readonly availableMicrocents: bigint
  readonly freeCallsLeft: number | undefined
}

export type CallOutcome =
  | { readonly _tag: "Settled"; readonly report: CallReport; readonly answer: KeptResult }
  | { readonly _tag: "Replayed"; readonly answer: KeptResult }
