/**
 * Which paid calls brought an output that does not fit the tool's output schema: outputs are not kept, so this is all that
 * a dispute can go by.
 */
import { Context, type DateTime, type Effect } from "effect"
import type { ConsumerId, ReceiptId } from "../shared/Ids.ts"

/** As long as a call can be disputed, and a day. */
export const UNFIT_DAYS_KEPT = 31

export interface UnfitOutput {
  readonly consumerId: ConsumerId
  readonly receiptId: ReceiptId
}

/** `note` is a transaction of its own, before the call's settlement: noted twice is noted once. */
export class UnfitOutputs extends Context.Service<
  UnfitOutputs,
  {
    note(output: UnfitOutput, at: DateTime.Utc): Effect.Effect<void>
    isNoted(output: UnfitOutput): Effect.Effect<boolean>
    /** Forgets at most `limit` that were noted before then; says how many. */
    prune(before: DateTime.Utc, limit: number): Effect.Effect<number>
  }
>()("agent-tool-billing/domain/metering/UnfitOutputs") {}
