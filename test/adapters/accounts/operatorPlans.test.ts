/**
 * The operator's lists on large tables: every statement follows an index, also one that counts.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { ClaimStore } from "../../../domain/earnings/Claims.ts"
import { PayoutStore } from "../../../domain/earnings/PayoutStore.ts"
import { AccountSearch } from "../../../domain/operator/AccountSearch.ts"
import { AuditTrailStore } from "../../../domain/operator/AuditTrail.ts"
import { ChargebackStore, FreezeStore } from "../../../domain/payments/AccountFreezes.ts"
import { ConsumerId, ProviderId } from "../../../domain/shared/Ids.ts"
import { DisputeStore } from "../../../domain/trust/DisputeStore.ts"
import { postgresStores } from "../../contracts/contractOverEveryStore.ts"
import { isCluster } from "../../support/servers/CitusCluster.ts"
import { LIVE } from "../../support/servers/PostgresTest.ts"
import { plansOf } from "../../support/servers/QueryPlans.ts"

const ROWS = 40_000
const ID = "019348c2-a7b1-7c3d-8e9f-0123456789ab"
const FIRST = { limit: 50, offset: 0, after: undefined }
const LATER = { ...FIRST, after: { key: "2026-01-01T00:00:00.000Z", id: ID } }

const fill = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const series = sql`SELECT n, timestamptz '2025-01-01Z' + n * interval '10 minutes' AS at FROM generate_series(1, ${ROWS}) n`
  yield* sql`INSERT INTO consumers (id, name, email, use_case, rate_limit_rpm, created_at)
    SELECT gen_random_uuid(), 'Agent ' || n, 'agent' || n || '@example.org', '', 60, at FROM (${series}) filler`
  yield* sql`INSERT INTO providers (id, name, handle, email, endpoint_url, description, pricing_model,
      default_price_microcents, created_at)
    SELECT gen_random_uuid(), 'Tools ' || n, 'tools-' || n, 'tools' || n || '@example.org', 'https://example.org', '',
      'per_call', 0, at FROM (${series}) filler`
  yield* sql`INSERT INTO wallets (consumer_id) SELECT id FROM consumers`
  yield* sql`INSERT INTO payouts (payout_id, provider_id, account_id, amount_cents, state, next_attempt_at, created_at)
    SELECT gen_random_uuid(), id, 'acct', 100,
      CASE WHEN hashtext(id::text) % 500 = 0 THEN 'failed' ELSE 'paid' END, created_at, created_at FROM providers`
  yield* sql`INSERT INTO claims (claim_id, subject, debtor, amount, paid, created_at)
    SELECT gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 100, CASE WHEN n % 500 = 0 THEN 0 ELSE 100 END, at
    FROM (${series}) filler`
  yield* sql`INSERT INTO disputes (dispute_id, receipt_id, consumer_id, provider_id, cost, fee, settled_on, outcome,
      reason, filed_by, status, created_at, respond_by, decide_by, decided_at)
    SELECT gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 100, 10, '2025-01-01', 1, 'other',
      1, CASE WHEN n % 500 = 0 THEN 2 ELSE 4 END, at, at, at, CASE WHEN n % 500 = 0 THEN NULL ELSE at END
    FROM (${series}) filler`
  yield* sql`INSERT INTO audit_trail (entry_id, recorded_at, action, actor, address, subject)
    SELECT gen_random_uuid(), at, CASE WHEN n % 500 = 0 THEN 'funds.move' ELSE 'session.create' END, 'Ada', '::1', n::text
    FROM (${series}) filler`
  yield* sql`INSERT INTO loads (load_id, consumer_id, amount_cents, state, created_at, updated_at)
    SELECT gen_random_uuid(), id, 100, 'paid', created_at, created_at FROM consumers`
  yield* sql`INSERT INTO chargebacks (chargeback_id, load_id, consumer_id, amount_cents, state, funds, opened_at, updated_at)
    SELECT load_id::text, load_id, consumer_id, 100, 'won', 'none', created_at, created_at FROM loads`
  for (const table of TABLES) yield* sql`VACUUM ANALYZE ${sql(table)}`
})

const TABLES = [
  "consumers",
  "providers",
  "wallets",
  "payouts",
  "claims",
  "disputes",
  "audit_trail",
  "chargebacks"
] as const

it.layer(postgresStores, LIVE)("The operator's lists on large tables", (it) => {
  // The plans of a cluster hide those of its workers.
  it.effect.skipIf(isCluster)("read no table from its beginning to its end", () =>
    Effect.gen(function* () {
      yield* fill
      const accounts = yield* AccountSearch
      const trail = yield* AuditTrailStore
      const payouts = yield* PayoutStore
      const claims = yield* ClaimStore
      const disputes = yield* DisputeStore
      const freezes = yield* FreezeStore
      const chargebacks = yield* ChargebackStore
      const lists = {
        ...Object.fromEntries(
          [undefined, ID, "agent 39999", "agent39999@", "tools-39999"].flatMap((search) => [
            [`consumers ${search}`, accounts.consumers(search, LATER)],
            [`providers ${search}`, accounts.providers(search, LATER)]
          ])
        ),
        "consumers by id": accounts.consumersOf([ConsumerId.make(ID)]),
        "providers by id": accounts.providersOf([ProviderId.make(ID)]),
        "freezes of accounts": freezes.findAll([ConsumerId.make(ID)]),
        "frozen accounts": freezes.frozen(undefined, 50),
        payouts: payouts.list({ state: undefined, providerId: undefined }, LATER),
        "failed payouts": payouts.list({ state: "failed", providerId: undefined }, FIRST),
        "payouts of a provider": payouts.list({ state: undefined, providerId: ProviderId.make(ID) }, FIRST),
        claims: claims.list(false, LATER),
        "open claims": claims.list(true, FIRST),
        "contested disputes": disputes.contested(LATER),
        "audit trail of a subject": trail.list({ action: undefined, subject: "39999" }, FIRST),
        "audit trail by action": trail.list({ action: "funds.move", subject: undefined }, FIRST),
        chargebacks: chargebacks.list(LATER)
      }
      for (const [name, list] of Object.entries(lists)) {
        for (const plan of yield* plansOf(list as Effect.Effect<unknown, unknown>)) {
          // A total reads at most 10,000 rows.
          if (/^Aggregate\n +-> +Limit\n/u.test(plan)) continue
          assert.notInclude(plan, "Seq Scan", name)
        }
      }
    })
  )
})
