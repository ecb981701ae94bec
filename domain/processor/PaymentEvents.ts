/**
 * Applies the processor's webhook events, each once, in any order. The event and its effect are one unit of work; after
 * a failure the event is unclaimed, so that the processor sends it again.
 */
import { Context, DateTime, Effect, Layer, Option } from "effect"
import { Payouts } from "../earnings/Payouts.ts"
import { Ledger } from "../ledger/Ledger.ts"
import {
  type PaymentEvent,
  type PaymentFailed,
  PaymentGateway,
  type PaymentsNotConfigured,
  type UntrustedEvent
} from "../ledger/PaymentGateway.ts"
import { AccountFreezes } from "../payments/AccountFreezes.ts"
import { isAsOrdered, Loads, LoadStore } from "../payments/Loads.ts"
import { Withdrawals } from "../payments/Withdrawals.ts"
import type { LoadId } from "../shared/Ids.ts"
import { fromCents } from "../shared/Microcents.ts"
import { dieUnlessUnavailable, type StoreUnavailable, UnitOfWork } from "../shared/StoreUnavailable.ts"
import { Chargebacks } from "./Chargebacks.ts"

export const PAYMENT_EVENT_DAYS_KEPT = 90

/** Events come more than once, and some concern nothing here. */
export type Received = "applied" | "repeated" | "ignored"

/** A refund of a load that was made at the processor, or that failed. */
interface RefundOfLoad {
  readonly id: string
  readonly paymentId: string
  readonly amountCents: number
  readonly state: "taken" | "returned"
}

export class PaymentEvents extends Context.Service<
  PaymentEvents,
  {
    /** A webhook's raw body and its signature header. */
    receive(
      body: string,
      signature: string
    ): Effect.Effect<Received, UntrustedEvent | PaymentsNotConfigured | PaymentFailed | StoreUnavailable>
    apply(event: PaymentEvent): Effect.Effect<Received, PaymentFailed | StoreUnavailable>
  }
>()("agent-tool-billing/domain/processor/PaymentEvents") {
  static readonly layer = Layer.effect(
    PaymentEvents,
    Effect.gen(function* () {
      const store = yield* LoadStore
      const gateway = yield* PaymentGateway
      const ledger = yield* Ledger
      const freezes = yield* AccountFreezes
      const loads = yield* Loads
      const chargebacks = yield* Chargebacks
      const withdrawals = yield* Withdrawals
      const payouts = yield* Payouts
      const { atomically } = yield* UnitOfWork

      const once = <E>(
        event: PaymentEvent,
        effect: Effect.Effect<void, E>
      ): Effect.Effect<Received, E | StoreUnavailable> =>
        atomically(
          Effect.gen(function* () {
            if (!(yield* store.claimEvent(event.eventId, yield* DateTime.now))) return "repeated"
            yield* effect
            return "applied"
          })
        )

      const loadOf = Effect.fnUntraced(function* (paymentId: string) {
        const known = yield* store.findByPayment(paymentId)
        return Option.isSome(known) ? known.value.id : yield* gateway.loadOfPayment(paymentId)
      })

      /** States: none → taken → returned; late events of an earlier state change nothing. */
      const reverse = Effect.fnUntraced(function* (loadId: LoadId, refund: RefundOfLoad) {
        const load = yield* store.lock(loadId)
        if (Option.isNone(load)) return yield* Effect.logWarning(`There is no load ${loadId} here`)
        const before = Option.getOrUndefined(yield* store.reversal(refund.id))
        if (before?.state === "returned" || before?.state === refund.state) return
        const movement = {
          consumerId: load.value.consumerId,
          amount: fromCents(refund.amountCents),
          cause: "refund" as const
        }
        if (refund.state === "taken") {
          yield* ledger.reverse({ ...movement, reference: `refund:${refund.id}` }).pipe(dieUnlessUnavailable)
          yield* freezes.review(movement.consumerId)
        } else if (before !== undefined) {
          yield* ledger.reinstate({ ...movement, reference: `refund:${refund.id}:returned` }).pipe(dieUnlessUnavailable)
        }
        yield* store.putReversal({ id: refund.id, loadId, amountCents: refund.amountCents, state: refund.state })
      })

      /** The payment was mismatched, so none of it is in the wallet. */
      const wasNeverCredited = Effect.fnUntraced(function* (loadId: LoadId) {
        const load = Option.getOrUndefined(yield* store.find(loadId))
        if (load?.state === "mismatched") return true
        if (load?.sessionId === undefined || load.state === "paid") return false
        const checkout = yield* gateway.checkoutStatus(load.sessionId)
        return checkout.state === "paid" && !isAsOrdered(load, checkout)
      })

      const ofLoad = Effect.fnUntraced(function* (
        event: PaymentEvent,
        paymentId: string,
        effect: (loadId: LoadId) => Effect.Effect<void, StoreUnavailable>
      ) {
        const loadId = yield* loadOf(paymentId)
        if (loadId === undefined || (yield* wasNeverCredited(loadId))) return "ignored"
        return yield* once(event, effect(loadId))
      })

      const apply = Effect.fn("PaymentEvents.apply")(function* (
        event: PaymentEvent
      ): Effect.fn.Return<Received, PaymentFailed | StoreUnavailable> {
        switch (event._tag) {
          case "CheckoutChanged":
            return yield* once(event, loads.settle(event.checkout))
          case "PaymentRefunded": {
            if (event.state === "pending") return "ignored"
            const { amountCents, partId, paymentId, refundId: id } = event
            const state = event.state === "settled" ? "taken" : "returned"
            const reversal = (loadId: LoadId) => reverse(loadId, { id, paymentId, amountCents, state })
            return yield* ofLoad(event, paymentId, (loadId) =>
              partId === undefined
                ? reversal(loadId)
                : Effect.flatMap(withdrawals.refunded(partId, id, event.state), (own) =>
                    own ? Effect.void : reversal(loadId)
                  )
            )
          }
          case "PaymentDisputed":
            return yield* ofLoad(event, event.paymentId, (loadId) => chargebacks.apply(loadId, event))
          case "PayeeChanged":
            yield* payouts.refreshAccount(event.accountId)
            return "applied"
          case "TransferReversed":
            return yield* once(event, payouts.reversed(event.payoutId, event.transfer))
          case "Irrelevant":
            return "ignored"
        }
      })

      const receive = Effect.fn("PaymentEvents.receive")(function* (body: string, signature: string) {
        return yield* apply(yield* gateway.readEvent(body, signature))
      })

      return PaymentEvents.of({ apply, receive })
    })
  )
}
