/**
 * `npm run bench -- usage [calls]`: one consumer with ten million calls over 90 days, loaded straight into the tables;
 * the summary over 90 days and the first page of its calls, with their latencies at the 99th percentile.
 */
import { PgClient } from "@effect/sql-pg"
import { DateTime, Effect, Layer } from "effect"
import { randomUUID } from "node:crypto"
import * as PostgresUsageStore from "../../adapters/sql/PostgresUsageStore.ts"
import { Usage } from "../../domain/metering/Usage.ts"
import { ConsumerId } from "../../domain/shared/Ids.ts"
import { run as migrate } from "../../migrations/index.ts"
import { temporaryPostgres } from "../support/TemporaryPostgres.ts"
import { table } from "./support/Table.ts"

const CALLS = Number(process.argv[3] ?? 10_000_000)
const TOOLS = 20
const ASKED_TIMES = 200
const ROWS_AT_ONCE = 500_000

const fill = Effect.fnUntraced(function* (consumerId: ConsumerId) {
  const sql = yield* PgClient.PgClient
  const provider = randomUUID()
  yield* sql`INSERT INTO providers (id, name, email, endpoint_url, description, pricing_model, default_price_microcents, created_at)
    VALUES (${provider}, 'Bench', 'bench@example.org', 'http://127.0.0.1:9/', '', 'per_call', 0, now())`
  yield* sql`CREATE TEMP TABLE bench_tools AS
    SELECT n, gen_random_uuid() AS id FROM generate_series(0, ${TOOLS - 1}) n`
  for (let from = 0; from < CALLS; from += ROWS_AT_ONCE) {
    const until = Math.min(CALLS, from + ROWS_AT_ONCE) - 1
    // Ids as the service makes them: milliseconds first, so that their order is the order of time.
    yield* sql`INSERT INTO receipts (receipt_id, consumer_id, provider_id, tool_id, called_at, created_at, cost, fee,
        request_bytes, response_bytes, tokens_input, tokens_output, duration_ms, price_version, status, origin, signature, tool_name)
      SELECT (lpad(to_hex((extract(epoch FROM c.called_at) * 1000)::int8), 12, '0') || '7' || substr(md5(c.n::text), 1, 3)
          || '8' || substr(md5(c.n::text), 4, 15))::uuid,
        ${consumerId}::uuid, ${provider}::uuid, t.id, c.called_at, c.called_at, 500, 50, 300, 120, 10, 20,
        (c.n % 400)::int4, 1, CASE WHEN c.n % 50 = 0 THEN 2 ELSE 1 END, 1, decode(md5(c.n::text) || md5(c.n::text), 'hex'), 'tool'
      FROM (SELECT n, date_trunc('milliseconds', now() - (${CALLS} - n) * (interval '90 days' / ${CALLS})) AS called_at
        FROM generate_series(${from}::int8, ${until}::int8) n) c
      JOIN bench_tools t ON t.n = c.n % ${TOOLS}`
  }
  yield* sql`INSERT INTO usage_hourly (consumer_id, hour, tool_id, provider_id, calls, successes, timeouts, spend, fee,
      latency_ms, request_bytes, response_bytes, tokens_input, tokens_output)
    SELECT consumer_id, date_trunc('hour', called_at, 'UTC'), tool_id, provider_id, count(*),
      count(*) FILTER (WHERE status = 1), 0, sum(cost), sum(fee), sum(duration_ms), sum(request_bytes),
      sum(response_bytes), sum(tokens_input), sum(tokens_output)
    FROM receipts GROUP BY 1, 2, 3, 4`
  yield* sql`VACUUM ANALYZE receipts`
  yield* sql`VACUUM ANALYZE usage_hourly`
})

const timed = Effect.fnUntraced(function* (ask: Effect.Effect<unknown>) {
  const latenciesMs: Array<number> = []
  for (let n = 0; n < ASKED_TIMES; n++) {
    const startedMs = performance.now()
    yield* ask
    latenciesMs.push(performance.now() - startedMs)
  }
  const sorted = latenciesMs.toSorted((a, b) => a - b)
  return [sorted[Math.floor(ASKED_TIMES / 2)]!, sorted[Math.floor(ASKED_TIMES * 0.99)]!].map((ms) => ms.toFixed(1))
})

const program = Effect.gen(function* () {
  const consumerId = ConsumerId.make(randomUUID())
  const startedMs = performance.now()
  yield* fill(consumerId)
  process.stdout.write(`${CALLS} calls loaded in ${((performance.now() - startedMs) / 1_000).toFixed(0)} s\n`)
  const usage = yield* Usage
  const owner = { role: "consumer", ownerId: consumerId } as const
  const page = { limit: 50, offset: 0, after: undefined }
  const unfiltered = { toolId: undefined, status: undefined }
  const { sums } = yield* usage.summary(owner, "90d")
  table(
    `Usage of a consumer with ${sums.calls} calls in 90 days, ${ASKED_TIMES} times each, until ${DateTime.formatIso(
      yield* DateTime.now
    )}`,
    [
      ["", "p50 ms", "p99 ms"],
      ["summary, 90 days", ...(yield* timed(usage.summary(owner, "90d")))],
      ["summary, 24 hours", ...(yield* timed(usage.summary(owner, "24h")))],
      ["first page, 90 days", ...(yield* timed(usage.recent(owner, "90d", unfiltered, page)))]
    ]
  )
})

export const usage = (): Promise<void> =>
  Effect.gen(function* () {
    const server = yield* temporaryPostgres({ durable: true })
    const database = PgClient.layer({ url: server.url, maxConnections: 4 })
    yield* program.pipe(
      Effect.provide(
        Usage.layer.pipe(
          Layer.provide(PostgresUsageStore.layer),
          Layer.provideMerge(Layer.effectDiscard(migrate)),
          Layer.provideMerge(database)
        )
      )
    )
  }).pipe(Effect.scoped, Effect.runPromise)
