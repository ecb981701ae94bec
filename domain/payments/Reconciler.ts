/**
 * Credits loads whose webhook was lost: each round asks the processor which checkouts were paid lately. It also asks about
 * single checkouts, in case that list fails, and repeats orders that the processor may not have received.
 */
import { Context, DateTime, Duration, Effect, Layer, Option } from "effect"
import { PaymentGateway } from "../ledger/PaymentGateway.ts"
import { bothOf, round } from "../shared/Round.ts"
import { type StoreUnavailable, UnitOfWork } from "../shared/StoreUnavailable.ts"
import { type Load, Loads, LoadStore } from "./Loads.ts"

/** With the longest round, a payment is known well within two minutes. */
export const RECONCILED_EVERY = Duration.seconds(30)
export const POLLED_AT_ONCE_MAX = 50
const POLLED_CONCURRENTLY = 8
/** Single checkouts do not delay the next list. */
const POLLING_MAX = Duration.seconds(30)
/** A payment may be listed a little later than it was made. */
const LISTED_AGAIN = Duration.minutes(3)
/** The first list of this process. What was paid earlier is found by asking about single checkouts. */
const LISTED_AT_FIRST = Duration.hours(1)
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

      /** Marks a load unless it ended since the round started, by a webhook or on another node. */
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

      let listedAt: DateTime.Utc | undefined

      const creditPaid = Effect.fnUntraced(function* (now: DateTime.Utc) {
        const since =
          listedAt === undefined || DateTime.isGreaterThan(listedAt, now)
            ? DateTime.subtractDuration(now, LISTED_AT_FIRST)
            : DateTime.subtractDuration(listedAt, LISTED_AGAIN)
        const paid = yield* round(yield* gateway.paidCheckouts(since), {
          failing: "Loads that are paid but could not be credited",
          work: Effect.fnUntraced(function* (checkout) {
            const known = Option.getOrUndefined(yield* store.find(checkout.loadId))
            if (known === undefined || known.state === "paid" || known.state === "mismatched") return 0
            yield* loads.settle(checkout)
            return 1
          })
        })
        listedAt = now
        return total(paid)
      })

      const poll = Effect.fnUntraced(function* (now: DateTime.Utc) {
        const waiting = yield* store.unsettled(now, POLLED_AT_ONCE_MAX)
        const ended = yield* round(waiting, {
          failing: "Loads that could not be reconciled",
          concurrency: POLLED_CONCURRENTLY,
          work: (load) =>
            ask(load, now).pipe(
              Effect.catchTag("PaymentFailed", (error) =>
                Effect.andThen(
                  Effect.logWarning(`Load ${load.id} could not be reconciled: ${error.message}`),
                  error.definite && load.sessionId === undefined ? end(load, "failed", now) : Effect.succeed(0)
                )
              )
            )
        }).pipe(Effect.timeoutOption(POLLING_MAX))
        return total(Option.getOrElse(ended, () => []))
      })

      const reconcile = Effect.gen(function* () {
        if (gateway.mode !== "live") return 0
        const now = yield* DateTime.now
        const credited = creditPaid(now).pipe(
          Effect.catchTag("PaymentFailed", (error) =>
            Effect.as(Effect.logWarning(`Paid checkouts could not be listed: ${error.message}`), 0)
          )
        )
        return total(yield* bothOf(credited, poll(now)))
      }).pipe(Effect.withSpan("Reconciler.reconcile"))

      return Reconciler.of({ reconcile })
    })
  )
}

const total = (counts: ReadonlyArray<number>): number => counts.reduce((sum, one) => sum + one, 0)
