/**
 * Ends calls past their deadline, whose process died or whose settlement failed. The hold is released, the receipt's status
 * is `error`, the cost is 0. The call's reservation in a grant is released too.
 */
import { Context, DateTime, Effect, Exit, Layer } from "effect"
import { issueReceipt } from "../receipts/IssueReceipt.ts"
import { ReceiptSigner } from "../receipts/ReceiptSigner.ts"
import { zero } from "../shared/Microcents.ts"
import { CallStore, type OverdueCall } from "./CallStore.ts"
import { CallTally } from "./CallTally.ts"
import { Reservations } from "./Reservations.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"

export const SWEEP_BATCH_MAX = 500

export class Sweeper extends Context.Service<
  Sweeper,
  {
    /** One round; returns how many calls it ended. Several nodes may sweep at once: each call ends once. */
    readonly sweep: Effect.Effect<number, StoreUnavailable>
  }
>()("agent-tool-billing/domain/metering/Sweeper") {
  static readonly layer = Layer.effect(
    Sweeper,
    Effect.gen(function* () {
      const calls = yield* CallStore
      const signer = yield* ReceiptSigner
      const reservations = yield* Reservations
      const tally = yield* CallTally

      const end = Effect.fnUntraced(function* (call: OverdueCall, now: DateTime.Utc) {
        const closed = yield* calls.close({
          consumerId: call.consumerId,
          receipt: issueReceipt(
            // The duration is unknown, so the receipt says 0.
            { ...call, calledAt: call.openedAt, durationMs: 0, cost: zero, status: "error" },
            now,
            signer.sign
          ),
          fee: zero,
          priceVersion: call.priceVersion,
          origin: call.origin,
          requestBytes: 0,
          responseBytes: 0,
          tokensInput: 0,
          tokensOutput: 0,
          answer: undefined
        })
        if (closed._tag !== "Closed" || !closed.now) return 0
        tally.count(call.origin, "error")
        return 1
      })

      const sweep = Effect.gen(function* () {
        const now = yield* DateTime.now
        const overdue = yield* calls.overdue(now, SWEEP_BATCH_MAX)
        // A call that cannot be ended must not block the others.
        const ended = yield* Effect.forEach(overdue, (call) => Effect.exit(end(call, now)), { concurrency: 32 })
        const count = ended.reduce((sum, exit) => sum + (Exit.isSuccess(exit) ? exit.value : 0), 0)
        if (count > 0) yield* Effect.logWarning(`Ended ${count} calls whose process died or could not settle`)
        const stuck = ended.filter(Exit.isFailure)
        if (stuck.length > 0) {
          yield* Effect.logError(
            `${stuck.length} overdue calls could not be ended; why the first of them:`,
            stuck[0]!.cause
          )
        }
        yield* reservations.sweep
        return count
      }).pipe(Effect.withSpan("Sweeper.sweep"))

      return Sweeper.of({ sweep })
    })
  )
}
