/**
 * Stripe's double, whose webhooks are delivered when a test says so, and the settings of a service that uses it.
 */
import { Context, Effect, Layer } from "effect"
import { StripeDouble } from "../../../testing/stripe/StripeDouble.ts"

export const STRIPE_SECRET_KEY = "sk_test_double"
const KEYS = { secretKey: STRIPE_SECRET_KEY, webhookSecret: "whsec_double" }

export class HeldStripe extends Context.Service<HeldStripe, StripeDouble>()(
  "agent-tool-billing/test/support/HeldStripe"
) {
  static readonly layer = Layer.effect(
    HeldStripe,
    Effect.acquireRelease(
      Effect.promise(async () => {
        const started = await StripeDouble.start(KEYS)
        started.webhooks.holding = true
        return started
      }),
      (started) => Effect.promise(() => started.stop())
    )
  )
}

export const stripeSettings = ({ url }: StripeDouble) => ({
  PAYMENTS: "stripe",
  STRIPE_SECRET_KEY,
  STRIPE_WEBHOOK_SECRET: KEYS.webhookSecret,
  STRIPE_API_BASE: url,
  PAYOUT_DELAY_DAYS: "0",
  PAYOUT_DELAY_DAYS_NEW: "0",
  RESERVE_PERCENT: "0",
  ALLOW_UPSTREAM: "loopback",
  DEFAULT_FREE_TIER_CALLS: "0"
})
