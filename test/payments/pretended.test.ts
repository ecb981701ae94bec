/**
 * Money that nobody paid, and money that somebody did: never in the same books.
 */
import { assert, it } from "@effect/vitest"
import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { finished, post, ready } from "../support/ServiceProcess.ts"
import { PostgresTest } from "../support/postgres.ts"

const SETTINGS = {
  RECEIPT_SIGNING_SECRET: "a secret of the tests, 32 characters or more",
  LOG_SIGNING_KEY: "0".repeat(64),
  LOG_LEVEL: "Error"
}
const STRIPE = {
  PAYMENTS: "stripe",
  STRIPE_SECRET_KEY: "sk_test_nobody",
  STRIPE_WEBHOOK_SECRET: "whsec_nobody",
  STRIPE_API_BASE: "http://127.0.0.1:9",
  PORT: "0"
}

it.layer(PostgresTest.layer, { timeout: "120 seconds", excludeTestServices: true })("Pretended money", (it) => {
  it.effect("is never added to money that was paid, and never put before a processor", () =>
    Effect.gen(function* () {
      const { url } = yield* PostgresTest
      const sql = yield* PgClient.PgClient
      const onThis = { ...SETTINGS, DATABASE_URL: Redacted.value(url) }
      yield* Effect.scoped(
        Effect.gen(function* () {
          const service = yield* ready({ ...onThis, PAYMENTS: "dry_run" })
          const market = `${service.url}/api/market`
          const { body } = yield* post(`${market}/register-consumer`, { name: "Buyer", email: "buyer@example.org" })
          const key = String(body["api_key"])
          const load = post(`${market}/balance/load`, { amount_cents: 100 }, key)

          const [paid] =
            yield* sql`INSERT INTO loads (load_id, consumer_id, amount_cents, state, created_at, updated_at)
            VALUES (gen_random_uuid(), ${String(body["consumer_id"])}, 500, 'paid', now(), now()) RETURNING load_id`
          const refused = yield* load
          assert.deepStrictEqual([refused.status, refused.body["code"]], [503, "NOT_CONFIGURED"])
          assert.include(String(refused.body["detail"]), "money that was paid")

          yield* sql`DELETE FROM loads WHERE load_id = ${paid!["load_id"]}`
          assert.strictEqual((yield* load).status, 200)
        })
      )
      for (const command of [["serve"], ["payouts"]]) {
        const { code, problem } = yield* finished(command, { settings: { ...onThis, ...STRIPE } })
        assert.strictEqual(code, 1, command.join())
        assert.include(problem, "nobody paid for them")
      }
    })
  )
})
