/**
 * One book, one mode: nodes of another mode or processor account do not start, and one that runs already moves no
 * money. Simulated money is never paid out.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { finished, json, post, ready } from "../support/servers/ServiceProcess.ts"
import { PostgresTest } from "../support/servers/PostgresTest.ts"
import { StripeDouble } from "../../testing/stripe/StripeDouble.ts"

const SETTINGS = {
  RECEIPT_SIGNING_SECRET: "a secret of the tests, 32 characters or more",
  LOG_SIGNING_KEY: "0".repeat(64),
  LOG_LEVEL: "Error"
}
const KEYS = { secretKey: "sk_test_double", webhookSecret: "whsec_double" }

const aDouble = (options: { readonly accountId?: string; readonly secretKey?: string } = {}) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const double = await StripeDouble.start({ ...KEYS, ...options })
      double.webhooks.holding = true
      return double
    }),
    (double) => Effect.promise(() => double.stop())
  )

const stripe = (apiBase: string, secretKey = KEYS.secretKey) => ({
  PAYMENTS: "stripe",
  STRIPE_SECRET_KEY: secretKey,
  STRIPE_WEBHOOK_SECRET: KEYS.webhookSecret,
  STRIPE_API_BASE: apiBase
})

const NOBODY = "http://127.0.0.1:9"

const aFundedConsumer = Effect.fnUntraced(function* (url: string) {
  const { body } = yield* post(`${url}/api/market/register-consumer`, { name: "Buyer", email: "buyer@example.org" })
  return String(body["api_key"])
})

const load = (url: string, key: string) => post(`${url}/api/market/balance/load`, { amount_cents: 500 }, key)

const balance = (url: string, key: string) =>
  Effect.map(
    json(`${url}/api/v1/market/balance`, { headers: { authorization: `Bearer ${key}` } }),
    ({ body }) => body["balance_cents"]
  )

it.layer(PostgresTest.layer, { timeout: "240 seconds", excludeTestServices: true })(
  "A book of simulated money",
  (it) => {
    it.effect("is never used with a processor, by a node or a command, and is never paid out", () =>
      Effect.gen(function* () {
        const { url } = yield* PostgresTest
        const onThis = { ...SETTINGS, DATABASE_URL: Redacted.value(url) }
        const double = yield* aDouble()
        // Both start before the first load: the first movement of money decides the mode.
        const dry = yield* ready({ ...onThis, PAYMENTS: "dry_run" })
        const live = yield* ready({ ...onThis, ...stripe(double.url) })
        const key = yield* aFundedConsumer(dry.url)
        assert.strictEqual((yield* load(dry.url, key)).status, 200)

        const order = yield* load(live.url, key)
        assert.strictEqual(order.status, 200)
        double.pay(String(order.body["session_id"]))
        const event = double.webhooks.held.splice(0)[0]!
        double.webhooks.goTo(`${live.url}/api/webhooks/stripe`)
        assert.strictEqual(yield* Effect.promise(() => double.webhooks.deliver(event)), 503)
        assert.strictEqual(yield* balance(dry.url, key), 500)

        const commands = [
          ["serve", double.url],
          ["serve", NOBODY],
          ["payouts", double.url]
        ] as const
        yield* Effect.forEach(
          commands,
          Effect.fnUntraced(function* ([command, apiBase]) {
            const { code, problem } = yield* finished([command], {
              settings: { ...onThis, ...stripe(apiBase), PORT: "0" }
            })
            assert.strictEqual(code, 1, command)
            assert.include(problem, "simulated money of a dry run")
            assert.include(problem, "PAYMENTS=dry_run")
          }),
          { concurrency: "unbounded" }
        )
      }).pipe(Effect.scoped)
    )
  }
)

it.layer(PostgresTest.layer, { timeout: "240 seconds", excludeTestServices: true })("A book of a processor", (it) => {
  it.effect("rejects nodes of another mode or account, also a restored backup in dry run mode", () =>
    Effect.gen(function* () {
      const { url } = yield* PostgresTest
      const onThis = { ...SETTINGS, DATABASE_URL: Redacted.value(url) }
      const double = yield* aDouble()
      const other = yield* aDouble({ accountId: "acct_other" })
      const inLive = yield* aDouble({ secretKey: "sk_live_double" })
      const early = yield* ready({ ...onThis, PAYMENTS: "dry_run" })
      const node = yield* ready({ ...onThis, ...stripe(double.url) })
      const key = yield* aFundedConsumer(node.url)
      const order = yield* load(node.url, key)
      double.pay(String(order.body["session_id"]))
      double.webhooks.goTo(`${node.url}/api/webhooks/stripe`)
      yield* Effect.promise(() => double.webhooks.release())
      assert.strictEqual(yield* balance(node.url, key), 500)
      // It was running before the first movement of money.
      assert.strictEqual((yield* load(early.url, key)).status, 503)
      assert.strictEqual(yield* balance(node.url, key), 500)

      const refused = [
        [{ PAYMENTS: "dry_run" }, "configured for a dry run"],
        [stripe(other.url), "(account acct_other)"],
        [stripe(inLive.url, "sk_live_double"), "in live mode"],
        [stripe(NOBODY, "sk_live_double"), "in live mode"]
      ] as const
      yield* Effect.forEach(
        refused,
        Effect.fnUntraced(function* ([settings, says]) {
          const { code, problem } = yield* finished(["serve"], { settings: { ...onThis, ...settings, PORT: "0" } })
          assert.strictEqual(code, 1, says)
          assert.include(problem, says)
          assert.include(problem, "test money of the payment processor (account acct_double)")
          assert.include(problem, "`audit`")
        }),
        { concurrency: "unbounded" }
      )
      assert.strictEqual((yield* finished(["audit"], { settings: { ...onThis, PAYMENTS: "dry_run" } })).code, 0)
      // The same account again, while the processor is unavailable.
      yield* ready({ ...onThis, ...stripe(double.url) })
      yield* ready({ ...onThis, ...stripe(NOBODY) })
    }).pipe(Effect.scoped)
  )
})
