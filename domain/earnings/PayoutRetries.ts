/**
 * Failed payouts, retried by the operator. A failed payout has returned its money for good, so a retry is a new payout, to
 * the provider's own account, of what is available now.
 */
import { Context, Effect, Layer, Option, Schema } from "effect"
import { AccountFrozen } from "../metering/CallRejections.ts"
import type { IdempotencyConflict } from "../shared/Idempotency.ts"
import type { IdempotencyInFlight } from "../shared/IdempotencyStore.ts"
import type { PayoutId } from "../shared/Ids.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"
import type { NotOnboarded, PayoutRejected } from "./PayoutOpening.ts"
import { type Payout, PayoutStore } from "./PayoutStore.ts"
import { Payouts } from "./Payouts.ts"

/** Nothing was paid. */
export class PayoutNotRetried extends Schema.TaggedError<PayoutNotRetried>()("PayoutNotRetried", {
  payoutId: Schema.String,
  because: Schema.Literals(["unknown", "not_failed", "not_onboarded", "dry_run"])
}) {
  override get message() {
    const { because, payoutId } = this
    if (because === "dry_run") return "In a dry run nothing is paid out, so no payout can be retried."
    if (because === "not_onboarded") {
      return "The payment processor cannot pay this provider yet: its payout account is not complete."
    }
    return because === "unknown"
      ? `There is no payout ${payoutId}.`
      : `The payout ${payoutId} has not failed. Only a failed payout can be retried.`
  }
}

/** The new payout. `repeated`: it existed already, such as from an earlier retry. */
export interface RetriedPayout {
  readonly payout: Payout
  readonly repeated: boolean
}

export class PayoutRetries extends Context.Service<
  PayoutRetries,
  {
    retry(
      id: PayoutId
    ): Effect.Effect<
      RetriedPayout,
      | PayoutNotRetried
      | AccountFrozen
      | Exclude<PayoutRejected, NotOnboarded>
      | IdempotencyConflict
      | IdempotencyInFlight
      | StoreUnavailable
    >
  }
>()("agent-tool-billing/domain/earnings/PayoutRetries") {
  static readonly layer = Layer.effect(
    PayoutRetries,
    Effect.gen(function* () {
      const store = yield* PayoutStore
      const payouts = yield* Payouts

      const retry = Effect.fn("PayoutRetries.retry")(function* (id: PayoutId) {
        const failed = Option.getOrUndefined(yield* store.find(id))
        if (failed === undefined) return yield* new PayoutNotRetried({ payoutId: id, because: "unknown" })
        if (failed.state !== "failed") return yield* new PayoutNotRetried({ payoutId: id, because: "not_failed" })
        if ((yield* payouts.holdings(failed.providerId)).isFrozen) return yield* new AccountFrozen()
        // No provider can send this key, because a header has no line breaks. A failed payout is retried once.
        const begun = yield* payouts
          .request(failed.providerId, `operator\nretry ${id}`)
          .pipe(Effect.catchTag("NotOnboarded", () => new PayoutNotRetried({ payoutId: id, because: "not_onboarded" })))
        return begun.mode === "dry_run" ? yield* new PayoutNotRetried({ payoutId: id, because: "dry_run" }) : begun
      })

      return PayoutRetries.of({ retry })
    })
  )
}
