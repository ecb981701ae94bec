/**
 * Idempotent payout requests: a key stands for the payout of its first response, even if another request had started
 * that payout. The choice of the payout and the reservation of a new one are one unit of work; the processor is asked
 * after it.
 */
import { Context, Effect, Layer, Option } from "effect"
import { PaymentGateway } from "../payments/PaymentGateway.ts"
import { Digest } from "../shared/Digest.ts"
import { Idempotency, type IdempotencyConflict } from "../shared/Idempotency.ts"
import type { IdempotencyInFlight } from "../shared/IdempotencyStore.ts"
import { PayoutId, type ProviderId } from "../shared/Ids.ts"
import { type PayoutAnswer, payoutNamed, type PayoutRejected, Payouts } from "./Payouts.ts"
import { PayoutStore } from "./PayoutStore.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"

export class PayoutRequests extends Context.Service<
  PayoutRequests,
  {
    request(
      providerId: ProviderId,
      key: string | undefined
    ): Effect.Effect<PayoutAnswer, PayoutRejected | IdempotencyConflict | IdempotencyInFlight | StoreUnavailable>
  }
>()("agent-tool-billing/domain/payouts/PayoutRequests") {
  static readonly layer = Layer.effect(
    PayoutRequests,
    Effect.gen(function* () {
      const payouts = yield* Payouts
      const store = yield* PayoutStore
      const gateway = yield* PaymentGateway
      const { once } = yield* Idempotency
      const { sha256Hex } = yield* Digest

      const under = Effect.fnUntraced(function* (key: string, providerId: ProviderId) {
        const id = payoutNamed(sha256Hex, providerId, key)
        const opening = Effect.map(payouts.open(id, providerId), ({ payout }) => payout.id)
        const { answer, replayed } = yield* once({ scope: `payouts:${providerId}`, key, request: "payout" }, opening)
        const repeated = replayed || answer !== id
        const payout = repeated
          ? Option.getOrThrow(yield* store.find(PayoutId.make(answer)))
          : yield* payouts.advance(id)
        return { mode: "live" as const, payout, repeated }
      })

      const request = Effect.fn("PayoutRequests.request")(function* (providerId: ProviderId, key: string | undefined) {
        // A dry run changes nothing, so there is nothing to remember.
        const isKept = key !== undefined && gateway.mode === "live"
        return yield* isKept ? under(key, providerId) : payouts.request(providerId)
      })

      return PayoutRequests.of({ request })
    })
  )
}
