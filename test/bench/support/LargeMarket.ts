/**
 * A market with many receipts and everything around them, in a data folder that later runs use again. Two consumers and two
 * providers are registered through the API; the others are copies of them. The rows are made inside the server, before
 * their indexes.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { EmbeddedPostgres } from "../../../adapters/sql/embedded/EmbeddedPostgres.ts"
import { latenciesOf } from "../../../domain/trust/Latencies.ts"
import { column, OID } from "../../../adapters/sql/shared/Columns.ts"
import { send } from "../proxy.ts"
import type { Running } from "./Processes.ts"

/** Whose lists are read: a fifth of all calls is of the first consumer, and about a fifth of tools of the first provider. */
export interface Account {
  readonly id: string
  readonly key: string
}

export interface LargeMarket {
  readonly hotConsumer: Account
  readonly consumer: Account
  readonly hotProvider: Account
  readonly provider: Account
}

const DAYS = 90
const TOOLS_EACH = 5
const HOT_TOOLS = 50

/** The fee of the service's default settings, in basis points; an id of a receipt ends with it. */
const FEE_BPS = 1_000

const wholeMarket = (receipts: number) => {
  const consumers = Math.max(20, Math.min(10_000, Math.floor(receipts / 100)))
  const providers = Math.max(20, Math.min(1_000, Math.floor(receipts / 1_000)))
  return { receipts, consumers, providers }
}

type Size = ReturnType<typeof wholeMarket>

/** UUIDs of version 7 from a time, a number and a name, so that their order is that of time. */
const FUNCTIONS = `CREATE FUNCTION pg_temp.uid(ms bigint, n bigint, name text, tail text DEFAULT '') RETURNS uuid
  LANGUAGE sql IMMUTABLE AS $$ SELECT (lpad(to_hex(ms), 12, '0') || '7' || substr(h, 1, 3) || '8' || substr(h, 4, 3)
    || substr(h, 7, 12 - length(tail)) || tail)::uuid FROM md5(name || n) h $$`

const pick = (seed: number, below: number | string, n = "n"): string =>
  `(abs(hashint8extended(${n}, ${seed}) % (${below}))::int)`

/** Copies of a row with other values in some columns. */
const copies = (table: string, of: string, values: string, from: string): string =>
  `INSERT INTO ${table} SELECT (jsonb_populate_record(t, jsonb_build_object(${values}))).* FROM ${table} t, ${from} WHERE ${of}`

const accounts = ({ consumers, providers }: Size, market: LargeMarket, nowMs: number): ReadonlyArray<string> => {
  const createdMs = `${nowMs} - ${DAYS * 86_400_000}::int8 - i * 60000`
  const created = `to_timestamp((${createdMs}) / 1000.0)`
  const listed = (name: string, hot: Account, other: Account, many: number) => [
    `CREATE TEMP TABLE ${name} AS SELECT i, CASE i WHEN 0 THEN '${hot.id}'::uuid WHEN 1 THEN '${other.id}'::uuid
      ELSE pg_temp.uid(${createdMs}, i, '${name}') END AS id FROM generate_series(0, ${many - 1}) i`
  ]
  return [
    ...listed("c", market.hotConsumer, market.consumer, consumers),
    ...listed("p", market.hotProvider, market.provider, providers),
    copies(
      "consumers",
      `t.id = '${market.consumer.id}' AND c.i > 1`,
      `'id', c.id, 'name', 'Agent ' || c.i, 'email', 'agent' || c.i || '@example.org', 'created_at', ${created}`,
      "c"
    ),
    copies(
      "providers",
      `t.id = '${market.provider.id}' AND p.i > 1`,
      `'id', p.id, 'handle', 'seller-' || p.i, 'name', 'Seller ' || p.i, 'email', 'seller' || p.i || '@example.org',
        'created_at', ${created}`,
      "p"
    ),
    copies("provider_fees", `t.provider_id = '${market.provider.id}' AND p.i > 1`, "'provider_id', p.id", "p"),
    `INSERT INTO provider_handles (handle_hash, handle, skeleton, provider_id, given_at)
      SELECT sha256(convert_to('seller-' || i, 'UTF8')), 'seller-' || i, 'seller-' || i, id, now() FROM p WHERE i > 1`,
    copies(
      "tools",
      `t.provider_id = '${market.provider.id}' AND p.i > 1`,
      `'id', pg_temp.uid(${createdMs}, i, t.tool_name), 'provider_id', p.id, 'category', 'category-' || (p.i % 20),
        'price_microcents', 100 + p.i % 900, 'effective_price_microcents', 100 + p.i % 900,
        'effective_max_cost_microcents', 100 + p.i % 900,
        'search', array_to_tsvector(ARRAY[t.tool_name, 'word' || p.i % 100, 'common'])::text`,
      "p"
    ),
    `INSERT INTO tool_prices (tool_id, version, price_microcents, max_cost_microcents, free_tier_calls, billing_policy, leaving,
      announced_at, effective_from) SELECT id, 1, effective_price_microcents, effective_max_cost_microcents,
      effective_free_tier_calls, effective_billing_policy, effective_leaving, price_announced_at, price_since FROM tools
      ON CONFLICT DO NOTHING`,
    `CREATE TEMP TABLE t AS SELECT p.i * ${TOOLS_EACH} + row_number() OVER (PARTITION BY p.i ORDER BY tool_name) - 1 AS i,
      tools.id, provider_id, tool_name FROM tools JOIN p ON p.id = provider_id`,
    "ANALYZE c, p, t"
  ]
}

const receiptRows = ({ consumers, providers, receipts }: Size, nowMs: number): string => `
  INSERT INTO receipts (receipt_id, consumer_id, provider_id, tool_id, called_at, created_at, cost, fee, duration_ms,
    price_version, request_bytes, response_bytes, tokens_input, tokens_output, hold_ms, status, origin, fee_bps, signature,
    tool_name, request_id)
  SELECT pg_temp.uid(ms, n, 'receipt', '${FEE_BPS.toString(16).padStart(4, "0")}'), c.id, t.provider_id, t.id,
    to_timestamp(ms / 1000.0), to_timestamp((ms + 80) / 1000.0), cost, cost / 10, 20 + ${pick(5, 400)}, 1, 300, 1200, 10, 20, 2,
    status, CASE WHEN n % 20 = 7 THEN 2 ELSE 1 END, ${FEE_BPS}, sha256(int8send(n)), t.tool_name,
    '\\x01'::bytea || uuid_send(t.id)
  FROM (
    SELECT *, CASE WHEN c = 0 THEN ${pick(2, Math.min(HOT_TOOLS, providers * TOOLS_EACH))} WHEN ${pick(3, 10)} < 2 THEN ${pick(4, TOOLS_EACH)}
        ELSE (c * 37 + ${pick(6, 20)}) % ${providers} * ${TOOLS_EACH} + ${pick(4, TOOLS_EACH)} END AS t,
      CASE WHEN status = 1 THEN 100 * (1 + n % 9) ELSE 0 END AS cost
    FROM (
      SELECT n, CASE WHEN n % 5 = 0 THEN 0 ELSE 1 + ${pick(1, consumers - 1)} END AS c,
        (${nowMs} - (${receipts} - n)::float8 / ${receipts} * ${DAYS * 86_400_000}::float8)::int8 AS ms,
        CASE WHEN n % 50 = 0 THEN 2 WHEN n % 997 = 0 THEN 3 WHEN n % 1999 = 0 THEN 5 ELSE 1 END AS status
      FROM generate_series(1::int8, ${receipts}) n) a
  ) s JOIN c ON c.i = s.c JOIN t ON t.i = s.t`

const USAGE = `
  INSERT INTO usage_hourly (consumer_id, hour, tool_id, provider_id, calls, successes, timeouts, spend, fee, latency_ms,
    request_bytes, response_bytes, tokens_input, tokens_output)
  SELECT consumer_id, date_trunc('hour', called_at, 'UTC'), tool_id, provider_id, count(*),
    count(*) FILTER (WHERE status = 1), count(*) FILTER (WHERE status = 3), sum(cost), sum(fee), sum(duration_ms),
    sum(request_bytes), sum(response_bytes), sum(tokens_input), sum(tokens_output)
  FROM receipts GROUP BY 1, 2, 3, 4 ORDER BY 2`

const PROVIDER_USAGE = `
  INSERT INTO provider_usage SELECT provider_id, date_trunc('day', hour, 'UTC'), tool_id, sum(calls), sum(successes),
    sum(timeouts), sum(spend), sum(fee), sum(latency_ms), sum(request_bytes), sum(response_bytes), sum(tokens_input),
    sum(tokens_output) FROM usage_hourly GROUP BY 1, 2, 3`

const PAYERS = `
  INSERT INTO trust_daily (provider_id, day, consumer_id, paid, paid_calls, failed_calls, input_rejected, up_to_200_ms,
    up_to_500_ms, up_to_1000_ms, up_to_2000_ms, up_to_5000_ms, longest_ms)
  SELECT provider_id, (called_at AT TIME ZONE 'UTC')::date, consumer_id, sum(cost), count(*) FILTER (WHERE cost > 0),
    count(*) FILTER (WHERE cost = 0), 0, count(*) FILTER (WHERE cost > 0 AND duration_ms <= 200),
    count(*) FILTER (WHERE cost > 0), count(*) FILTER (WHERE cost > 0), count(*) FILTER (WHERE cost > 0),
    count(*) FILTER (WHERE cost > 0), max(duration_ms)
  FROM receipts WHERE origin <> 2 GROUP BY 1, 2, 3 ORDER BY 2`

/** Up to 2 ^ n calls each; `$1` in the statements of service levels. */
const sketches = (): ReadonlyArray<Uint8Array> =>
  Array.from({ length: 18 }, (_, n) => latenciesOf(Array.from({ length: 2 ** n }, (__, k) => 20 + ((k * 7_919) % 400))))

const COUNTS = `count(*) AS calls, count(*) FILTER (WHERE status = 1) AS successes, count(*) FILTER (WHERE status = 3) AS timeouts,
  count(*) FILTER (WHERE status = 5) AS input_rejected, sum(duration_ms) AS latency_ms,
  ($1::bytea[])[1 + round(log(2, count(*)))::int] AS latencies`

const levels = (table: string, key: string, from: string, times: string): string =>
  `INSERT INTO ${table} SELECT ${key}, ${COUNTS} FROM receipts r WHERE origin <> 2 AND called_at >= ${from} GROUP BY ${times}`

const LEVELS = [
  levels(
    "sla_hourly",
    "provider_id, provider_id, date_trunc('hour', called_at, 'UTC')",
    "now() - interval '90 days'",
    "1, 3"
  ),
  levels(
    "sla_hourly",
    "provider_id, tool_id, date_trunc('day', called_at, 'UTC')",
    "now() - interval '90 days'",
    "1, 2, 3"
  ),
  levels("sla_daily", "provider_id, date_trunc('day', called_at, 'UTC')", "now() - interval '90 days'", "1, 2")
]

const money = ({ consumers }: Size, nowMs: number): ReadonlyArray<string> => [
  `INSERT INTO account_balances (owner_id, account, lane, day, credits)
    SELECT provider_id, 2, 1, (created_at AT TIME ZONE 'UTC')::date, sum(cost - fee) FROM receipts GROUP BY 1, 4
    HAVING sum(cost - fee) > 0`,
  `INSERT INTO account_balances (owner_id, account, lane, credits)
    SELECT '00000000-0000-0000-0000-000000000000', 3, 1, sum(credits) / 9 FROM account_balances WHERE account = 2`,
  `INSERT INTO loads (load_id, consumer_id, amount_cents, fee_cents, state, payment_id, created_at, updated_at, paid_at)
    SELECT pg_temp.uid(at, c.i * 10 + n, 'load'), c.id, 100000, 30, 'paid', 'pay_' || c.i * 10 + n, to_timestamp(at / 1000),
      to_timestamp(at / 1000), to_timestamp(at / 1000)
    FROM c, generate_series(0, 4) n, LATERAL (SELECT ${nowMs} - (${DAYS} - n * 15) * 86400000::int8 AS at) times`,
  `INSERT INTO posted_transfers (transfer_id, consumer_id, amount, effective_at, recorded_at, leg, kind, debit, credit, reference)
    SELECT load_id, consumer_id, amount_cents * 10000::int8, paid_at, paid_at, 1, 3, 4, 1, 'load ' || load_id FROM loads`,
  `INSERT INTO wallets (consumer_id, credits, debits)
    SELECT c.id, (SELECT coalesce(sum(amount_cents), 0) * 10000 FROM loads WHERE consumer_id = c.id), coalesce(spent, 0)
    FROM c LEFT JOIN (SELECT consumer_id, sum(spend) AS spent FROM usage_hourly GROUP BY 1) r ON r.consumer_id = c.id
    ON CONFLICT (consumer_id) DO UPDATE SET credits = excluded.credits, debits = excluded.debits`,
  `INSERT INTO account_balances (owner_id, account, lane, debits)
    SELECT '00000000-0000-0000-0000-000000000000', 4, 0, sum(amount) FROM posted_transfers`,
  `INSERT INTO book (mode, opened_at) VALUES ('dry_run', now()) ON CONFLICT DO NOTHING`,
  `UPDATE wallets SET frozen = true, frozen_at = now(), frozen_reason = 'A chargeback is open.'
    WHERE consumer_id IN (SELECT id FROM c WHERE i % 50 = 49)`,
  `INSERT INTO payouts (payout_id, provider_id, account_id, amount_cents, state, next_attempt_at, created_at, paid_at)
    SELECT pg_temp.uid(at, p.i * 1000 + n, 'payout'), p.id, 'acct_' || p.i, 1000 + n, (ARRAY['paid', 'failed', 'reversed'])[1 + n % 3],
      to_timestamp(at / 1000), to_timestamp(at / 1000), to_timestamp(at / 1000)
    FROM p, generate_series(1, CASE WHEN p.i = 0 THEN 2000 ELSE 20 END) n,
      LATERAL (SELECT ${nowMs} - n * 3600000::int8 AS at) times`,
  `INSERT INTO chargebacks (chargeback_id, load_id, consumer_id, amount_cents, state, funds, released, opened_at, updated_at)
    SELECT 'dp_' || row_number() OVER (), load_id, consumer_id, amount_cents, 'lost', 'withdrawn', true, paid_at, paid_at
    FROM loads WHERE hashtext(load_id::text) % 10 = 0`,
  `INSERT INTO withdrawals (withdrawal_id, consumer_id, amount_cents, created_at)
    SELECT pg_temp.uid(at, c.i * 1000 + n, 'withdrawal'), c.id, 100, to_timestamp(at / 1000)
    FROM c, generate_series(1, CASE WHEN c.i = 0 THEN 1000 ELSE 1 END) n,
      LATERAL (SELECT ${nowMs} - n * 3600000::int8 AS at) times`,
  `INSERT INTO withdrawal_parts (part_id, withdrawal_id, place, consumer_id, load_id, payment_id, amount_cents, fee_cents, state,
      next_attempt_at)
    SELECT withdrawal_id, withdrawal_id, 0, consumer_id, (SELECT load_id FROM loads l WHERE l.consumer_id = w.consumer_id LIMIT 1),
      'pay', 100, 0, 'returned', created_at FROM withdrawals w`,
  `INSERT INTO free_tier_usage (consumer_id, tool_id, month, used)
    SELECT DISTINCT consumer_id, tool_id, date_trunc('month', now())::date, 3 FROM receipts
    WHERE called_at >= date_trunc('month', now())`,
  `INSERT INTO tool_figures SELECT tool_id, sum(calls), sum(successes), sum(input_rejected), sum(latency_ms), 0, 0, now()
    FROM sla_hourly WHERE tool_id <> provider_id GROUP BY 1`,
  "INSERT INTO proxied_consumers SELECT id FROM c",
  `INSERT INTO budgets (consumer_id, budget_id, cap, period, period_start, created_at)
    SELECT id, pg_temp.uid(${nowMs}, n, 'budget'), 1000000, 2, date_trunc('month', now()), now()
    FROM c, generate_series(1, 10) n WHERE i < 2 AND ${consumers} > 0`,
  `INSERT INTO grants (consumer_id, grant_id, provider_id, tool_ids, cap, period, period_start, spent, created_at)
    SELECT c.id, pg_temp.uid(${nowMs}, p.i, 'grant'), p.id, '{}', 1000000, 'month', date_trunc('month', now()), 0, now()
    FROM c, p WHERE c.i < 2 AND p.i < 20`
]

/** Claims that can be paid, and disputes whose time is over, would be worked on while others are measured. */
const disputes = (nowMs: number): ReadonlyArray<string> => [
  `INSERT INTO disputes (dispute_id, receipt_id, consumer_id, provider_id, cost, fee, settled_on, outcome, reason, filed_by,
      status, created_at, respond_by, decide_by, claim_text, answer_text, answered_at, decided_by, decided_at, paid, refunded)
    SELECT pg_temp.uid((extract(epoch FROM created_at) * 1000)::int8, n, 'dispute'), receipt_id, consumer_id, provider_id, cost,
      fee, created_at::date, 1, 'quality', 1, stage, created_at, now() + interval '7 days',
      CASE WHEN stage = 2 THEN now() + n * interval '1 minute' + interval '1 day' END, 'The result was wrong.',
      CASE WHEN stage > 1 THEN 'It was right.' END, CASE WHEN stage > 1 THEN created_at END,
      CASE WHEN stage > 2 THEN 'operator' END, CASE WHEN stage > 2 THEN created_at END,
      CASE WHEN stage > 2 THEN 0 END, CASE WHEN stage > 2 THEN 0 END
    FROM (SELECT *, 1 + n % 5 AS stage FROM (SELECT r.*, row_number() OVER () AS n
      FROM receipts r TABLESAMPLE BERNOULLI (0.4) WHERE r.status = 1) sampled) d ORDER BY 1`,
  `INSERT INTO claims (claim_id, subject, debtor, creditor, amount, paid, created_at)
    SELECT pg_temp.uid(${nowMs} - n, n, 'claim'), dispute_id, CASE WHEN n % 10 > 0 THEN provider_id END, consumer_id, 1000,
      CASE WHEN n % 10 > 0 THEN 1000 ELSE 0 END, now()
    FROM (SELECT *, row_number() OVER () AS n FROM disputes) d`
]

const others = ({ consumers, receipts }: Size, nowMs: number): ReadonlyArray<string> => {
  const document = `jsonb_build_object('id', id, 'number', number, 'kind', kind, 'month', month, 'owner', jsonb_build_object('role', role,
    'id', owner, 'name', 'Name', 'email', 'name@example.org'), 'lines', (SELECT jsonb_agg(jsonb_build_object('toolId', t.id, 'toolName',
    t.tool_name, 'provider', 'Seller', 'priceVersion', 1, 'unitPrice', '500', 'calls', 10, 'billedCalls', 10, 'freeCalls', 0,
    'failedCalls', 0, 'amount', '5000', 'fee', '0')) FROM t WHERE t.i < 20), 'movements', '[]'::jsonb, 'total', '500000', 'fee', '0',
    'net', '500000', 'issuedAt', month || '-01T00:00:00.000Z')`
  const [hot] = [Math.min(200, consumers)]
  return [
    `INSERT INTO invoice_months (month, staged_at, completed_at)
      SELECT to_char(now() - n * interval '1 month', 'YYYY-MM'), now(), now() FROM generate_series(1, 24) n
      ON CONFLICT (month) DO UPDATE SET staged_at = now(), completed_at = now()`,
    "DELETE FROM invoice_pending",
    `INSERT INTO invoices (invoice_id, number, kind, month, owner_id, part, total, document)
      SELECT id, number, kind, month, owner, n, 500000, (${document})::text FROM (
        SELECT pg_temp.uid(${nowMs} - n * 86400000::int8, i * 1000 + n, role) AS id, role || '-' || i * 1000 + n AS number,
          CASE role WHEN 'consumer' THEN 'invoice' ELSE 'statement' END AS kind,
          to_char(now() - (1 + n % 24) * interval '1 month', 'YYYY-MM') AS month, id AS owner, role, n
        FROM (SELECT *, 'consumer' AS role FROM c WHERE i < ${hot} UNION ALL SELECT *, 'provider' FROM p WHERE i < ${hot}) o,
          generate_series(1, 24) n) d`,
    `INSERT INTO audit_trail (entry_id, recorded_at, action, actor, address, subject)
      SELECT pg_temp.uid(${nowMs} - n * 60000, n, 'audit'), now(), CASE WHEN n % 2 = 0 THEN 'account.freeze' ELSE 'dispute.decide' END,
        'API key', '127.0.0.1', (SELECT id FROM c WHERE c.i = n % ${consumers})::text
      FROM generate_series(1::int8, ${Math.ceil(receipts / 50)}) n`,
    `INSERT INTO waitlist (id, email, source, joined_at) SELECT pg_temp.uid(${nowMs}, n, 'waitlist'), n || '@example.org', 'bench',
      now() - n * interval '1 minute' FROM generate_series(1, ${Math.ceil(receipts / 500)}) n`,
    `INSERT INTO submissions (id, kind, content, submitted_at) SELECT pg_temp.uid(${nowMs}, n, 'submission'), 'feedback', '{}',
      now() - n * interval '1 minute' FROM generate_series(1, ${Math.ceil(receipts / 500)}) n`,
    `INSERT INTO health_history SELECT (now() - d * interval '1 day')::date, 'check-' || k, 1440, 0, 0
      FROM generate_series(1, 90) d, generate_series(1, 12) k`,
    `INSERT INTO provider_standings SELECT id, false, 70, 'trusted', '[]', now()::date FROM p
      ON CONFLICT (provider_id) DO UPDATE SET changed = false, settled_on = excluded.settled_on`,
    `INSERT INTO provider_scores SELECT id, (now() - d * interval '1 day')::date, 70 FROM p, generate_series(1, 90) d`,
    `INSERT INTO tool_versions SELECT tool_id, n, changed_at, source, changed, definition FROM tool_versions, generate_series(2, 50) n`
  ]
}

const seed = Effect.fnUntraced(function* (size: Size, market: LargeMarket) {
  const sql = yield* PgClient.PgClient
  const nowMs = Date.now()
  const run = (text: string, params: ReadonlyArray<unknown> = []) => sql.unsafe(text, params)

  /** Fills a table without its indexes, and makes them again. */
  const filled = Effect.fnUntraced(function* (table: string, ...statements: ReadonlyArray<string>) {
    const startedMs = performance.now()
    const keys = yield* sql<{ readonly name: string; readonly definition: string }>`
      SELECT conname AS name, pg_get_constraintdef(oid) AS definition FROM pg_constraint
      WHERE conrelid = ${table}::text::regclass AND contype IN ('p', 'u')`
    const indexes = yield* sql<{ readonly name: string; readonly definition: string }>`
      SELECT indexname AS name, indexdef AS definition FROM pg_indexes WHERE tablename = ${table}
      AND indexname NOT IN (SELECT conname FROM pg_constraint WHERE contype IN ('p', 'u'))`
    for (const { name } of keys) yield* run(`ALTER TABLE ${table} DROP CONSTRAINT ${name}`)
    for (const { name } of indexes) yield* run(`DROP INDEX ${name}`)
    for (const statement of statements)
      yield* run(statement, statement.includes("$1") ? [column(sketches(), OID.bytea)] : [])
    for (const { definition, name } of keys) yield* run(`ALTER TABLE ${table} ADD CONSTRAINT ${name} ${definition}`)
    for (const { definition } of indexes) yield* run(definition)
    const rows = yield* sql.unsafe(
      `SELECT count(*) AS many, pg_size_pretty(pg_total_relation_size('${table}')) AS size FROM ${table}`
    )
    const { many, size: bytes } = rows[0] as { readonly many: bigint; readonly size: string }
    const seconds = ((performance.now() - startedMs) / 1_000).toFixed(0)
    process.stdout.write(`${table}: ${many} rows, ${bytes}, ${seconds} s\n`)
  })

  yield* run("SET work_mem = '1GB'")
  yield* run("SET maintenance_work_mem = '2GB'")
  yield* run("SET synchronous_commit = off")
  yield* run(FUNCTIONS)
  for (const statement of accounts(size, market, nowMs)) yield* run(statement)
  yield* filled("receipts", receiptRows(size, nowMs))
  yield* run("ANALYZE receipts")
  yield* filled("usage_hourly", USAGE)
  yield* run(PROVIDER_USAGE)
  yield* filled("trust_daily", PAYERS)
  yield* filled("sla_hourly", ...LEVELS.slice(0, 2))
  yield* filled("sla_daily", ...LEVELS.slice(2))
  for (const statement of [...money(size, nowMs), ...disputes(nowMs), ...others(size, nowMs)]) yield* run(statement)
  yield* run("RESET work_mem")
  yield* run("VACUUM ANALYZE")
})

const registered = async ({ port }: Running): Promise<LargeMarket> => {
  const consumer = async (name: string): Promise<Account> => {
    const { api_key: key, consumer_id: id } = await send<Record<string, string>>(
      port,
      "/api/market/register-consumer",
      { name, email: `${name}@example.org` }
    )
    return { id: id!, key: key! }
  }
  const provider = async (name: string): Promise<Account> => {
    const { api_key: key, provider_id: id } = await send<Record<string, string>>(
      port,
      "/api/market/register-provider",
      {
        name,
        email: `${name}@example.org`,
        endpoint_url: "http://127.0.0.1:9/mcp",
        tools: Array.from({ length: TOOLS_EACH }, (_, n) => ({
          tool_name: `tool_${n}`,
          description: "Searches public papers",
          category: "search",
          price_microcents: 500,
          free_tier_calls: 5
        }))
      }
    )
    return { id: id!, key: key! }
  }
  return {
    hotConsumer: await consumer("hot-agent"),
    consumer: await consumer("agent"),
    hotProvider: await provider("hot-seller"),
    provider: await provider("seller")
  }
}

/** The market in the data folder, which is made if it is not there. No service may run on the folder. */
export const largeMarket = async (
  folder: string,
  receipts: number,
  start: () => Promise<Running>
): Promise<LargeMarket> => {
  const file = join(folder, "bench.json")
  if (existsSync(file)) return JSON.parse(readFileSync(file, "utf8")) as LargeMarket
  const service = await start()
  const market = await registered(service).finally(service.stop)
  await Effect.gen(function* () {
    const { ownerUrl } = yield* EmbeddedPostgres.start({ dataDir: folder })
    yield* Effect.provide(seed(wholeMarket(receipts), market), PgClient.layer({ url: ownerUrl, maxConnections: 1 }))
  }).pipe(Effect.scoped, Effect.runPromise)
  writeFileSync(file, JSON.stringify(market))
  return market
}
