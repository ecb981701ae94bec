/**
 * The real process is killed during a load or a payout at Stripe: after a restart there is one session, one transfer,
 * and the ledger balances.
 */
import { assert, it } from "@effect/vitest"
import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { json, post, ready } from "../support/servers/ServiceProcess.ts"
import { PostgresTest } from "../support/servers/PostgresTest.ts"
import { type Mishap, StripeDouble } from "../../testing/stripe/StripeDouble.ts"

const KEYS = { secretKey: "sk_test_double", webhookSecret: "whsec_double" }
const EARNED_CENTS = 2_500

const aDouble = Effect.acquireRelease(
  Effect.promise(async () => {
    const started = await StripeDouble.start(KEYS)
    started.webhooks.holding = true
    return started
  }),
  (started) => Effect.promise(() => started.stop())
)

const aService = Effect.fnUntraced(function* (double: StripeDouble) {
  const { url } = yield* PostgresTest
  return yield* ready({
    DATABASE_URL: Redacted.value(url),
    RECEIPT_SIGNING_SECRET: "a secret of the tests, 32 characters or more",
    LOG_SIGNING_KEY: "0".repeat(64),
    PAYMENTS: "stripe",
    ALLOW_UPSTREAM: "loopback",
    STRIPE_SECRET_KEY: KEYS.secretKey,
    STRIPE_WEBHOOK_SECRET: KEYS.webhookSecret,
    STRIPE_API_BASE: double.url,
    PAYOUT_DELAY_DAYS: "0",
    PAYOUT_DELAY_DAYS_NEW: "0",
    RESERVE_PERCENT: "0",
    RATE_LIMIT_REGISTER_RPM: "0",
    // The same after a restart: the return URLs are a part of the order.
    BASE_URL: "https://market.example",
    LOG_LEVEL: "Error"
  })
})
type Service = Effect.Success<ReturnType<typeof aService>>

const killed = Effect.fnUntraced(function* ({ child, exit }: Service) {
  child.kill("SIGKILL")
  yield* exit
})

const untilAsked = (double: StripeDouble, path: string, before: number) =>
  Effect.suspend(() =>
    double.requests.filter((one) => one === `POST ${path}`).length > before
      ? Effect.void
      : Effect.fail("not yet" as const)
  ).pipe(Effect.delay("20 millis"), Effect.retry({ times: 500 }), Effect.orDie)

const asked = (double: StripeDouble, path: string) => double.requests.filter((one) => one === `POST ${path}`).length

/** The worker is dead; others would wait for its lease to expire. */
const leasesEnd = Effect.flatMap(PgClient.PgClient, (sql) =>
  Effect.orDie(sql`UPDATE payouts SET next_attempt_at = now() - interval '1 second' WHERE state = 'transferring'`)
)

const sound = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  yield* Effect.orDie(sql`SELECT count_receipts(1000000)`)
  const rows = yield* sql<{ readonly account: number; readonly balance: bigint }>`
    SELECT account, sum(credits - debits)::int8 AS balance FROM (
      SELECT 1::int2 AS account, credits, debits FROM wallets
      UNION ALL SELECT account, credits, debits FROM account_balances
    ) kept GROUP BY 1`.pipe(Effect.orDie)
  assert.strictEqual(
    rows.reduce((sum, { balance }) => sum + balance, 0n),
    0n
  )
  for (const { account, balance } of rows) if (account >= 5 && account <= 8) assert.strictEqual(balance, 0n)
})

const MISHAPS: ReadonlyArray<Mishap["kind"]> = ["hang_before", "hang_after"]

it.layer(PostgresTest.layer, { timeout: "120 seconds", excludeTestServices: true })("After kill -9", (it) => {
  for (const kind of MISHAPS) {
    it.effect(`during a payout at Stripe (${kind}) there is one transfer`, () =>
      Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        const double = yield* aDouble
        const first = yield* aService(double)
        const { body: provider } = yield* post(`${first.url}/api/market/register-provider`, {
          name: "Ada",
          email: "ada@example.org",
          endpoint_url: "http://127.0.0.1:9/mcp",
          tools: [{ tool_name: "echo", price_microcents: 1 }]
        })
        const key = String(provider["api_key"])
        const id = String(provider["provider_id"])
        yield* post(`${first.url}/api/market/connect`, {}, key)
        for (const account of double.state.accounts.values()) account.complete = true
        yield* json(`${first.url}/api/market/connect`, { headers: { authorization: `Bearer ${key}` } })
        yield* Effect.orDie(sql`INSERT INTO posted_transfers (transfer_id, consumer_id, provider_id, amount, effective_at, recorded_at,
            leg, kind, debit, credit, lot, reference)
          VALUES (${id}, '00000000-0000-0000-0000-000000000000', ${id}, ${BigInt(EARNED_CENTS * 10_000)}, now(), now(), 1,
            9, 4, 2, '2026-11-20', ${`earned:${id}`})`)
        yield* Effect.orDie(sql`INSERT INTO account_balances AS b (owner_id, account, day, lane, credits, debits)
          VALUES (${id}, 2, '2026-11-20', 0, ${BigInt(EARNED_CENTS * 10_000)}, 0),
            ('00000000-0000-0000-0000-000000000000', 4, '1970-01-01', 0, 0, ${BigInt(EARNED_CENTS * 10_000)})
          ON CONFLICT (owner_id, account, day, lane) DO UPDATE SET debits = b.debits + excluded.debits`)

        double.mishaps.push({ path: "/v1/transfers", kind })
        yield* Effect.forkChild(Effect.exit(post(`${first.url}/api/market/payouts`, {}, key)))
        yield* untilAsked(double, "/v1/transfers", 0)
        yield* killed(first)
        yield* leasesEnd

        const second = yield* aService(double)
        const history = Effect.map(
          json(`${second.url}/api/market/payouts`, { headers: { authorization: `Bearer ${key}` } }),
          ({ body }) => body["history"] as ReadonlyArray<{ readonly status: string }>
        )
        yield* Effect.flatMap(history, ([payout]) =>
          payout?.status === "paid" ? Effect.void : Effect.fail("not yet" as const)
        ).pipe(Effect.delay("200 millis"), Effect.retry({ times: 100 }), Effect.orDie)
        assert.strictEqual((yield* history).length, 1)
        assert.strictEqual(double.state.transfers.size, 1)
        assert.strictEqual([...double.state.transfers.values()][0]!.amount, EARNED_CENTS)
        yield* sound
        yield* killed(second)
      })
    )

    it.effect(`during a load at Stripe (${kind}) there is one session, credited once`, () =>
      Effect.gen(function* () {
        const double = yield* aDouble
        const first = yield* aService(double)
        const { body: consumer } = yield* post(`${first.url}/api/market/register-consumer`, {
          name: "Agent",
          email: "agent@example.org"
        })
        const key = String(consumer["api_key"])
        const load = (service: Service) =>
          json(`${service.url}/api/market/balance/load`, {
            method: "POST",
            headers: { "content-type": "application/json", authorization: `Bearer ${key}`, "idempotency-key": "one" },
            body: JSON.stringify({ amount_cents: 700 })
          })
        double.mishaps.push({ path: "/v1/checkout/sessions", kind })
        const before = asked(double, "/v1/checkout/sessions")
        yield* Effect.forkChild(Effect.exit(load(first)))
        yield* untilAsked(double, "/v1/checkout/sessions", before)
        yield* killed(first)

        const second = yield* aService(double)
        const session = String((yield* load(second)).body["session_id"])
        assert.strictEqual(double.state.sessions.size, 1)
        double.pay(session)
        const [event] = double.webhooks.held
        double.webhooks.goTo(`${second.url}/api/webhooks/stripe`)
        for (let n = 0; n < 3; n++) {
          assert.strictEqual(yield* Effect.promise(() => double.webhooks.deliver(event!)), 200)
        }
        const { body } = yield* json(`${second.url}/api/v1/market/balance`, {
          headers: { authorization: `Bearer ${key}` }
        })
        assert.strictEqual(body["balance_cents"], 700)
        yield* sound
        yield* killed(second)
      })
    )
  }
})
