/**
 * A market whose payments go through a double of the processor: a provider of the tool `search` at $4.00, whose earnings
 * mature at once, and a developer with $50.00.
 */
import { Effect, Schedule } from "effect"
import { StripeDouble } from "../../../testing/stripe/StripeDouble.ts"
import { freePort } from "../servers/FreePort.ts"
import { aDeveloper, aSeller, got, listed, OPERATOR_KEY, posted, type Seller } from "./HttpMarket.ts"
import { ready } from "../servers/ServiceProcess.ts"

export const WEBHOOK_SECRET = "whsec_double"
const SECRETS = { secretKey: "sk_test_double", webhookSecret: WEBHOOK_SECRET }
const LOAD_CENTS = 5_000

export const paidMarket = Effect.gen(function* () {
  const port = yield* freePort
  const url = `http://127.0.0.1:${port}`
  const double = yield* Effect.acquireRelease(
    Effect.promise(() => StripeDouble.start({ ...SECRETS, webhookUrl: `${url}/api/webhooks/stripe` })),
    (started) => Effect.promise(() => started.stop())
  )
  yield* ready({
    PROFILE: "memory",
    LOG_LEVEL: "Error",
    PORT: String(port),
    OPERATOR_KEY,
    PAYMENTS: "stripe",
    STRIPE_API_BASE: double.url,
    PAYOUT_DELAY_DAYS: "0",
    PAYOUT_DELAY_DAYS_NEW: "0",
    RESERVE_PERCENT: "0",
    STRIPE_SECRET_KEY: SECRETS.secretKey,
    STRIPE_WEBHOOK_SECRET: SECRETS.webhookSecret
  })
  const { seller } = yield* aSeller(url)
  yield* listed(seller, { tool_name: "search", price_microcents: 4_000_000, free_tier_calls: 0 })
  const developer = yield* aDeveloper(url)
  const load = yield* posted(`${url}/api/market/balance/load`, { amount_cents: LOAD_CENTS }, developer)
  double.pay(String(load["session_id"]))
  yield* credited(url, developer)
  return { developer, double, seller, url }
})

/** The processor reports the payment by a webhook. */
const credited = (url: string, developer: string) =>
  got(`${url}/api/v1/market/balance`, developer).pipe(
    Effect.repeat({
      until: (balance) => balance["balance_cents"] === LOAD_CENTS,
      schedule: Schedule.spaced("100 millis")
    }),
    Effect.timeoutOrElse({
      duration: "60 seconds",
      orElse: () => Effect.die(new Error("The load was never credited"))
    })
  )

/** The provider completes its account on the processor's page. */
export const onboarded = Effect.fnUntraced(function* (double: StripeDouble, { key, url }: Seller) {
  const { onboarding_url: page } = yield* posted(`${url}/api/market/connect`, {}, key)
  yield* Effect.promise(() =>
    fetch(String(page), { method: "POST", body: new URLSearchParams({ do: "complete" }), redirect: "manual" })
  )
  // It reads the account's status at the processor.
  yield* got(`${url}/api/market/connect`, key)
  const [account] = double.state.accounts.values()
  return account!
})
