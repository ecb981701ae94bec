/**
 * `npm run bench -- books [calls] [consumers]`: a month closed over ten million calls of ten thousand consumers, and
 * a thousand payouts settled against Stripe's double; how long each took, and its memory.
 */
import { PgClient } from "@effect/sql-pg"
import { DateTime, Effect, Layer, Redacted } from "effect"
import { randomUUID } from "node:crypto"
import * as NodeDigest from "../../adapters/crypto/NodeDigest.ts"
import * as NodeEntropy from "../../adapters/crypto/NodeEntropy.ts"
import * as NodeSealer from "../../adapters/crypto/NodeSealer.ts"
import * as StripeGateway from "../../adapters/payments/StripeGateway.ts"
import * as PostgresAccountStore from "../../adapters/sql/accounts/PostgresAccountStore.ts"
import * as PostgresClaimStore from "../../adapters/sql/earnings/PostgresClaimStore.ts"
import * as PostgresPayeeStore from "../../adapters/sql/earnings/PostgresPayeeStore.ts"
import * as PostgresPayoutStore from "../../adapters/sql/earnings/PostgresPayoutStore.ts"
import * as PostgresInvoiceStore from "../../adapters/sql/invoices/PostgresInvoiceStore.ts"
import * as PostgresLedgerStore from "../../adapters/sql/ledger/PostgresLedgerStore.ts"
import * as PostgresPaidFunds from "../../adapters/sql/ledger/PostgresPaidFunds.ts"
import * as PostgresUsageStore from "../../adapters/sql/metering/PostgresUsageStore.ts"
import * as PostgresIdempotencyStore from "../../adapters/sql/shared/PostgresIdempotencyStore.ts"
import * as PostgresUnitOfWork from "../../adapters/sql/shared/PostgresUnitOfWork.ts"
import { PayeeStore } from "../../domain/earnings/PayoutStore.ts"
import { Payouts } from "../../domain/earnings/Payouts.ts"
import type { Month } from "../../domain/invoices/Invoice.ts"
import { Invoicing } from "../../domain/invoices/Invoicing.ts"
import { Ledger } from "../../domain/ledger/Ledger.ts"
import { PlatformFunds } from "../../domain/ledger/PlatformFunds.ts"
import { Idempotency } from "../../domain/shared/Idempotency.ts"
import { ProviderId } from "../../domain/shared/Ids.ts"
import { Microcents } from "../../domain/shared/Microcents.ts"
import { run as migrate } from "../../migrations/index.ts"
import { recovery } from "../../src/layers/Core.ts"
import { StripeDouble } from "../../testing/stripe/StripeDouble.ts"
import { temporaryPostgres } from "../support/TemporaryPostgres.ts"
import { table } from "./support/Table.ts"

const CALLS = Number(process.argv[3] ?? 10_000_000)
const CONSUMERS = Number(process.argv[4] ?? 10_000)
const TOOLS = 20
const PAYOUTS = 1_000
const ROWS_AT_ONCE = 500_000
const MONTH = "2026-03" as Month

const fill = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const provider = randomUUID()
  yield* sql`INSERT INTO providers (id, name, email, endpoint_url, description, pricing_model, default_price_microcents, created_at, handle)
    VALUES (${provider}, 'Bench', 'bench@example.org', 'http://127.0.0.1:9/', '', 'per_call', 0, now(), 'seeded')`
  yield* sql`INSERT INTO consumers (id, name, email, use_case, rate_limit_rpm, created_at)
    SELECT gen_random_uuid(), 'Agent ' || n, 'agent' || n || '@example.org', '', 60, now()
    FROM generate_series(1, ${CONSUMERS}) n`
  yield* sql`CREATE TABLE bench_consumers AS SELECT row_number() OVER () - 1 AS n, id FROM consumers`
  yield* sql`CREATE TABLE bench_tools AS SELECT n, gen_random_uuid() AS id FROM generate_series(0, ${TOOLS - 1}) n`
  for (let from = 0; from < CALLS; from += ROWS_AT_ONCE) {
    const until = Math.min(CALLS, from + ROWS_AT_ONCE) - 1
    yield* sql`
      INSERT INTO receipts (receipt_id, consumer_id, provider_id, tool_id, called_at, created_at, cost, fee,
        request_bytes, response_bytes, tokens_input, tokens_output, duration_ms, price_version, status, origin, fee_bps, signature,
        tool_name)
      SELECT overlay(gen_random_uuid()::text PLACING '03e8' FROM 33)::uuid, k.id, ${provider}::uuid, t.id, c.at, c.at, 500, 50, 300, 120, 10, 20, 40, 1,
        CASE WHEN c.n % 50 = 0 THEN 2 ELSE 1 END, 1, 1000, decode(md5(c.n::text) || md5(c.n::text), 'hex'), 'tool_' || t.n
      FROM (SELECT n, timestamptz '2026-03-01Z' + n * (interval '30 days' / ${CALLS}) AS at
        FROM generate_series(${from}::int8, ${until}::int8) n) c
      JOIN bench_consumers k ON k.n = (c.n * 7919) % ${CONSUMERS} JOIN bench_tools t ON t.n = (c.n / 3) % ${TOOLS}`
  }
  yield* sql`VACUUM ANALYZE receipts`
})

const residentMb = (): number => process.memoryUsage().rss / 1_048_576

const invoices = Effect.gen(function* () {
  const { close } = yield* Invoicing
  const before = residentMb()
  let most = before
  const watch = setInterval(() => (most = Math.max(most, residentMb())), 50)
  const startedMs = performance.now()
  const closed = yield* close(MONTH)
  const seconds = (performance.now() - startedMs) / 1_000
  clearInterval(watch)
  table(`A month of ${CALLS} calls of ${CONSUMERS} consumers`, [
    ["documents", "seconds", "agrees", "MB before", "MB at most"],
    [String(closed.issued), seconds.toFixed(1), String(closed.agrees), before.toFixed(0), most.toFixed(0)]
  ])
})

const payouts = Effect.fnUntraced(function* (double: StripeDouble) {
  const sql = yield* PgClient.PgClient
  const ledger = yield* Ledger
  const funds = yield* PlatformFunds
  const payees = yield* PayeeStore
  const { request } = yield* Payouts
  const rows = yield* sql<{ readonly id: string }>`
    INSERT INTO providers (id, name, email, endpoint_url, description, pricing_model, default_price_microcents, created_at, handle)
    SELECT gen_random_uuid(), 'Paid', 'paid@example.org', 'http://127.0.0.1:9/', '', 'per_call', 0, now(), 'paid-' || n
    FROM generate_series(1, ${PAYOUTS}) n RETURNING id`
  const now = yield* DateTime.now
  for (const { id } of rows) {
    const providerId = ProviderId.make(id)
    const accountId = `acct_${id}`
    double.state.accounts.set(accountId, {
      id: accountId,
      object: "v2.core.account",
      applied_configurations: ["recipient"],
      created: DateTime.formatIso(now),
      display_name: "Paid",
      livemode: false,
      metadata: {},
      contact_email: "paid@example.org",
      complete: true,
      due: []
    })
    yield* payees.putStatus(
      providerId,
      {
        accountId,
        status: "complete",
        chargesEnabled: false,
        payoutsEnabled: true,
        detailsSubmitted: true,
        currentlyDue: [],
        eventuallyDue: [],
        errors: []
      },
      now
    )
    const amount = Microcents.make(20_000_000n)
    yield* Effect.orDie(funds.deposit({ amount, reference: `bench:${id}` }))
    yield* Effect.orDie(ledger.adjust({ owner: { providerId }, direction: "credit", amount, reference: `bench:${id}` }))
  }
  const startedMs = performance.now()
  const asked = yield* Effect.forEach(rows, ({ id }) => Effect.orDie(request(ProviderId.make(id))), {
    concurrency: 16
  })
  const seconds = (performance.now() - startedMs) / 1_000
  const paid = asked.filter((one) => one.mode === "live" && one.payout.state === "paid").length
  const { discrepancies } = CALLS > 100_000 ? { discrepancies: [] } : yield* ledger.audit
  table(`${PAYOUTS} payouts against Stripe's double`, [
    ["paid", "seconds", "a second", "transfers", "discrepancies"],
    [
      String(paid),
      seconds.toFixed(1),
      (PAYOUTS / seconds).toFixed(0),
      String(double.state.transfers.size),
      String(discrepancies.length)
    ]
  ])
})

export const books = (): Promise<void> =>
  Effect.gen(function* () {
    const { url } = yield* temporaryPostgres({ durable: true })
    const double = yield* Effect.acquireRelease(
      Effect.promise(() => StripeDouble.start({ secretKey: "sk_test_bench", webhookSecret: "whsec_bench" })),
      (started) => Effect.promise(() => started.stop())
    )
    double.webhooks.holding = true
    const gateway = StripeGateway.layer({
      secretKey: Redacted.make("sk_test_bench"),
      webhookSecret: undefined,
      apiBase: double.url
    })
    const stores = Layer.mergeAll(
      PostgresAccountStore.layer,
      PostgresClaimStore.layer,
      PostgresInvoiceStore.layer,
      PostgresLedgerStore.layer,
      PostgresPaidFunds.layer,
      PostgresPayeeStore.layer,
      PostgresPayoutStore.layer,
      PostgresIdempotencyStore.layer,
      PostgresUnitOfWork.layer,
      PostgresUsageStore.layer,
      NodeEntropy.layer,
      NodeDigest.layer,
      NodeSealer.layer([Redacted.make("the secret of the bench, 32 characters")]),
      gateway
    ).pipe(Layer.provideMerge(PgClient.layer({ url, maxConnections: 16 })))
    const services = Layer.mergeAll(Invoicing.layer, Payouts.layer.pipe(Layer.provide(Idempotency.layer))).pipe(
      Layer.provideMerge(recovery),
      Layer.provideMerge(stores)
    )
    yield* Effect.gen(function* () {
      yield* migrate
      yield* fill
      yield* invoices
      yield* payouts(double)
    }).pipe(Effect.provide(services))
  }).pipe(Effect.scoped, Effect.runPromise)
