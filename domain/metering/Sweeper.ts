/**
 * Ends calls past their deadline, whose process died, whose settlement failed, or whose caller never brought the input that
 * the tool asked for. The hold is released, the receipt's status is `error`, the cost is 0. The call's reservation in a grant
 * is released too.
 */
import { Context, DateTime, Effect, Layer } from "effect"
import { Receipts, type SignerUnavailable } from "../receipts/Receipts.ts"
import { zero } from "../shared/Microcents.ts"
import { bothOf, round } from "../shared/Round.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"
import { CallStore, type OverdueCall } from "./CallStore.ts"
import { CallTally } from "./CallsInFlight.ts"
import { Reservations } from "./Grants.ts"

export const SWEEP_BATCH_MAX = 500

export class Sweeper extends Context.Service<
  Sweeper,
  {
    /** One round; returns how many calls it ended. Several nodes may sweep at once: each call ends once. */
    readonly sweep: Effect.Effect<number, SignerUnavailable | StoreUnavailable>
  }
>()("agent-tool-billing/domain/metering/Sweeper") {
  static readonly layer = Layer.effect(
    Sweeper,
    Effect.gen(function* () {
      const calls = yield* CallStore
      const receipts = yield* Receipts
      const reservations = yield* Reservations
      const tally = yield* CallTally

      const end = Effect.fnUntraced(function* (call: OverdueCall, now: DateTime.Utc) {
        // The duration is unknown, so the receipt says 0.
        const ended = { ...call, calledAt: call.openedAt, durationMs: 0, cost: zero, status: "error" } as const
        const closed = yield* calls.close({
          consumerId: call.consumerId,
          receipt: yield* receipts.issue(ended, now),
          cause: "canceled",
          feeBasisPoints: call.feeBasisPoints,
          priceVersion: call.priceVersion,
          origin: call.origin,
          answer: undefined
        })
        const endedNow = closed._tag === "Closed" && closed.now
        if (endedNow) tally.count(call.origin, "error")
        return endedNow
      })

      let wasAway = false
      const endOverdue = Effect.gen(function* () {
        const now = yield* DateTime.now
        const overdue = yield* Effect.tapError(calls.overdue(now, SWEEP_BATCH_MAX), () =>
          Effect.sync(() => (wasAway = true))
        )
        // First, calls in flight are settled by their outcome: their nodes try it again every second.
        if (wasAway) {
          wasAway = false
          return 0
        }
        let count = 0
        yield* round(overdue, {
          failing: "Overdue calls that could not be ended",
          concurrency: 32,
          work: (call) =>
            Effect.map(end(call, now), (endedNow) => {
              if (endedNow) count++
            })
        }).pipe(
          Effect.ensuring(
            Effect.suspend(() =>
              count > 0
                ? Effect.logWarning(
                    `Ended ${count} calls whose process died, could not settle, or waited for input in vain`
                  )
                : Effect.void
            )
          )
        )
        return count
      })

      const sweep = Effect.gen(function* () {
        const [ended] = yield* bothOf(endOverdue, reservations.sweep)
        return ended
      }).pipe(Effect.withSpan("Sweeper.sweep"))

      return Sweeper.of({ sweep })
    })
  )
}
