/**
 * Reads receipts. `CallStore.close` writes them, in the transaction that settles the call.
 */
import { Context, type Effect, type Option } from "effect"
import type { CallCause } from "./CallCause.ts"
import type { Microcents } from "../shared/Microcents.ts"
import type { ConsumerId, ProviderId, ReceiptId, ToolId } from "../shared/Ids.ts"
import type { Page, PageRequest } from "../shared/Page.ts"
import type { Receipt, ReceiptStatus } from "./Receipt.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"

/** Whose receipts: a consumer sees its own calls, a provider the calls of its tools. */
export type ReceiptOwner =
  | { readonly role: "consumer"; readonly ownerId: ConsumerId }
  | { readonly role: "provider"; readonly ownerId: ProviderId }

/** Which of an owner's receipts are listed. A member that is undefined excludes none. */
export interface ReceiptFilter {
  readonly toolId: ToolId | undefined
  readonly status: ReceiptStatus | undefined
  /** Inclusive, by the time of the call; ISO 8601. */
  readonly from: string | undefined
  /** Exclusive. */
  readonly to: string | undefined
}

/** What was recorded with a receipt and is not part of it. */
export interface Settled {
  /** Of a call that ended in `error` because of its caller. */
  readonly cause: CallCause | undefined
  /** The platform fee in effect when the call was held. */
  readonly feeBasisPoints: number
  readonly fee: Microcents
  /** Of the request that ended the call; undefined where the sweeper did, or where it has none. */
  readonly requestId: string | undefined
  /** Undefined for a call without a hold of its own: one that was reported, or that the sweeper ended. */
  readonly holdMs: number | undefined
}

export class ReceiptStore extends Context.Service<
  ReceiptStore,
  {
    find(id: ReceiptId): Effect.Effect<Option.Option<Receipt>, StoreUnavailable>
    settledOf(id: ReceiptId): Effect.Effect<Option.Option<Settled>, StoreUnavailable>
    /** Newest first: the calls of a consumer, or of a provider's tools. */
    list(owner: ReceiptOwner, filter: ReceiptFilter, page: PageRequest): Effect.Effect<Page<Receipt>, StoreUnavailable>
  }
>()("agent-tool-billing/domain/receipts/ReceiptStore") {}
