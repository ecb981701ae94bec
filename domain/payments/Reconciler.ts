/**
 * Asks the processor about checkouts without a webhook, and repeats orders that it may not have received.
 */
import { Context, DateTime, Duration, Effect, Layer, Option } from "effect"
import { round } from "../shared/Round.ts"
import { UnitOfWork } from "../shared/UnitOfWork.ts"
import { Loads } from "./Loads.ts"
import { type Load, LoadStore } from "./LoadStore.ts"
import { PaymentGateway } from "./PaymentGateway.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"

/** Leaves time for a webhook that is on its way. */
export const POLLED_AFTER = Duration.minutes(10)
export const POLLED_AT_ONCE_MAX = 100
/** A load that is neither paid nor rejected by then is left; a webhook may still end it. */
const DAYS_ASKED = 30

export class Reconciler extends Context.Service<
  Reconciler,
  {
    /** One round; returns how many loads ended. Any number of nodes may run it at once. */
    readonly reconcile: Effect.Effect<number, StoreUnavailable>
  }
>()("agent-tool-billing/domain/payments/Reconciler") {
  static readonly layer = Layer.effect(
    Reconciler,
    Effect.gen(function* () {
      const store = yield* LoadStore
      const loads = yield* Loads
      const gateway = yield* PaymentGateway
      const { atomically } = yield* UnitOfWork

      /** Unless it ended since the round started, by a webhook or on another node. */
      const mark = Effect.fnUntraced(function* ({ id }: Load, changes: Partial<Load>) {
        const current = Option.getOrUndefined(yield* store.lock(id))
        if (current?.state !== "opening" && current?.state !== "open") return undefined
        const marked = { ...current, ...changes }
        yield* store.update(marked)
        return marked
      }, atomically)

      const end = (load: Load, state: "expired" | "failed", now: DateTime.Utc) =>
        Effect.map(mark(load, { state, updatedAt: now }), (ended) => (ended === undefined ? 0 : 1))

      const ask = Effect.fnUntraced(function* (waiting: Load, now: DateTime.Utc) {
        const isOld = DateTime.isLessThan(waiting.createdAt, DateTime.subtract(now, { days: DAYS_ASKED }))
        if (isOld) return yield* end(waiting, "expired", now)
        // A failing load goes to the end of the queue.
        const load = yield* mark(waiting, { updatedAt: now })
        if (load === undefined) return 0
        const { sessionId } = load.sessionId === undefined ? yield* loads.open(load) : load
        const status = yield* gateway.checkoutStatus(sessionId!)
        yield* loads.settle(status)
        return status.state === "open" ? 0 : 1
      })

      const reconcile = Effect.gen(function* () {
        if (gateway.mode !== "live") return 0
        const now = yield* DateTime.now
        const waiting = yield* store.unsettled(DateTime.subtractDuration(now, POLLED_AFTER), POLLED_AT_ONCE_MAX)
        const ended = yield* round(waiting, {
          failing: "Loads that could not be reconciled",
          work: (load) =>
            ask(load, now).pipe(
              Effect.catchTag("PaymentFailed", (error) =>
                Effect.andThen(
                  Effect.logWarning(`Load ${load.id} could not be reconciled: ${error.message}`),
                  error.definite && load.sessionId === undefined ? end(load, "failed", now) : Effect.succeed(0)
                )
              )
            )
        })
        return ended.reduce<number>((sum, one) => sum + one, 0)
      }).pipe(Effect.withSpan("Reconciler.reconcile"))

      return Reconciler.of({ reconcile })
    })
  )
}
