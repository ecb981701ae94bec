/**
 * Paid calls whose output does not fit the tool's output schema. Outputs are not stored, so this record is the only evidence
 * for a dispute.
 */
import { Context, type DateTime, type Effect } from "effect"
import type { ConsumerId, ReceiptId } from "../shared/Ids.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"

/** The period in which a call can be disputed, plus a day. */
export const UNFIT_DAYS_KEPT = 31

/** A result that did not match the tool's output schema, which counts as evidence in a dispute. */
export interface UnfitOutput {
  readonly consumerId: ConsumerId
  readonly receiptId: ReceiptId
}

/** `note` is a separate transaction, before the call's settlement. Noting a call twice records it once. */
export class UnfitOutputs extends Context.Service<
  UnfitOutputs,
  {
    note(output: UnfitOutput, at: DateTime.Utc): Effect.Effect<void, StoreUnavailable>
    isRecorded(output: UnfitOutput): Effect.Effect<boolean, StoreUnavailable>
    /** Deletes at most `limit` records noted before this time; returns how many. */
    prune(before: DateTime.Utc, limit: number): Effect.Effect<number, StoreUnavailable>
  }
>()("agent-tool-billing/domain/metering/UnfitOutputs") {}
