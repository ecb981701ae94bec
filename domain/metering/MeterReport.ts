/**
 * A call that was reported, not proxied.
 */
import type { DateTime } from "effect"
import type { KeyOwner } from "../accounts/Principal.ts"
import type { CatalogEntry } from "../catalog/CatalogStore.ts"
import type { Receipt } from "../receipts/Receipt.ts"
import type { ConsumerId, ReceiptId } from "../shared/Ids.ts"
import type { Microcents } from "../shared/Microcents.ts"
import type { CallIdempotency, KeptResult } from "./CallStore.ts"
import type { ToolReference } from "./ToolDirectory.ts"
import type { CallStatus } from "../upstream/ToolUpstream.ts"

/** A call that did not go through the proxy, as its consumer or its provider reports it. */
export interface MeterRequest {
  readonly caller: KeyOwner
  readonly tool: ToolReference
  /** The consumer to bill; a provider's report without one is a test call of its own. */
  readonly consumerId: ConsumerId | undefined
  readonly status: CallStatus
  readonly durationMs: number
  readonly tokensInput: number
  readonly tokensOutput: number
  readonly cost: Microcents | undefined
  readonly calledAt: DateTime.Utc | undefined
  readonly idempotency: CallIdempotency | undefined
  /** As its caller knows it: stored with the call. */
  readonly requestId?: string | undefined
  /** Called when the call has its id. The call may still end without a receipt. */
  readonly onNamed?: (invocationId: ReceiptId) => void
}

/** The receipt of a reported call, and what the consumer has left. */
export interface Metered {
  readonly entry: CatalogEntry
  readonly receipt: Receipt
  readonly availableMicrocents: bigint
}

/** How a report ended: recorded with a receipt, or replayed for a repeated idempotency key. */
export type MeterOutcome =
  | { readonly _tag: "Recorded"; readonly metered: Metered; readonly answer: KeptResult }
  | { readonly _tag: "Replayed"; readonly answer: KeptResult }
