/**
 * `npm run bench -- dashboards [calls]`: both dashboards in a real browser, with ten million calls of one developer
 * and one provider; from opening the page until everything is loaded.
 */
import { PgClient } from "@effect/sql-pg"
import { DateTime, Effect, Layer, Redacted } from "effect"
import type { Page } from "playwright-core"
import * as PostgresSlaStore from "../../adapters/sql/trust/PostgresSlaStore.ts"
import { ProviderId } from "../../domain/shared/Ids.ts"
import { latenciesOf } from "../../domain/trust/Latencies.ts"
import { SlaStore } from "../../domain/trust/SlaStore.ts"
import { browser, open } from "../support/Browser.ts"
import { settled, signIn } from "../support/ProviderPage.ts"
import { temporaryPostgres } from "../support/TemporaryPostgres.ts"
import { startScript } from "./support/Processes.ts"
import { median, table } from "./support/Table.ts"

const CALLS = Number(process.argv[3] ?? 10_000_000)
const TOOLS = 20
const DAYS = 90
const SLA_HOURS = 29 * 24
const HOUR_MS = 3_600_000
const ROWS_AT_ONCE = 500_000
const LOOKS = 15

interface Member {
  readonly id: string
  readonly key: string
}

const post = (url: string, path: string, body: unknown, key?: string) =>
  Effect.promise(async () => {
    const response = await fetch(`${url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...(key === undefined ? {} : { authorization: `Bearer ${key}` }) },
      body: JSON.stringify(body)
    })
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
    return (await response.json()) as Record<string, unknown>
  })

const members = Effect.fnUntraced(function* (url: string) {
  const tools = Array.from({ length: TOOLS }, (_, n) => ({ tool_name: `tool_${n}`, price_microcents: 500 }))
  const provider = yield* post(url, "/api/market/register-provider", {
    name: "Bench",
    email: "bench@example.org",
    endpoint_url: "http://127.0.0.1:9/",
    tools
  })
  const developer = yield* post(url, "/api/market/register-consumer", { name: "Agent", email: "agent@example.org" })
  const memberOf = (id: unknown, made: Record<string, unknown>): Member => ({
    id: String(id),
    key: String(made["api_key"])
  })
  return {
    provider: memberOf(provider["provider_id"], provider),
    developer: memberOf(developer["consumer_id"], developer),
    toolIds: (provider["tools"] as ReadonlyArray<{ readonly id: string }>).map(({ id }) => id)
  }
})

type Members = Effect.Success<ReturnType<typeof members>>

const fill = Effect.fnUntraced(function* ({ developer, provider, toolIds }: Members) {
  const sql = yield* PgClient.PgClient
  yield* sql`CREATE TABLE bench_tools (n int8, id uuid)`
  for (const [n, id] of toolIds.entries()) yield* sql`INSERT INTO bench_tools VALUES (${BigInt(n)}, ${id}::uuid)`
  // Ids in the order of time, as the service makes them.
  for (let from = 0; from < CALLS; from += ROWS_AT_ONCE) {
    const until = Math.min(CALLS, from + ROWS_AT_ONCE) - 1
    yield* sql`INSERT INTO receipts (receipt_id, consumer_id, provider_id, tool_id, called_at, created_at, cost, fee,
        request_bytes, response_bytes, tokens_input, tokens_output, duration_ms, price_version, status, origin, fee_bps, signature,
        tool_name)
      SELECT uuidv7(c.at - now()), ${developer.id}::uuid, ${provider.id}::uuid, t.id, c.at, c.at, 500, 50, 300, 120, 10, 20,
        (c.n % 400)::int4, 1, CASE WHEN c.n % 50 = 0 THEN 2 ELSE 1 END, 1, 1000, decode(md5(c.n::text) || md5(c.n::text), 'hex'),
        'tool_' || t.n
      FROM (SELECT n, date_trunc('milliseconds', now() - (${CALLS} - n) * (interval '90 days' / ${CALLS})) AS at
        FROM generate_series(${from}::int8, ${until}::int8) n) c
      JOIN bench_tools t ON t.n = c.n % ${TOOLS}`
  }
  yield* sql`INSERT INTO usage_hourly (consumer_id, hour, tool_id, provider_id, calls, successes, timeouts, spend, fee,
      latency_ms, request_bytes, response_bytes, tokens_input, tokens_output)
    SELECT consumer_id, date_trunc('hour', called_at, 'UTC'), tool_id, provider_id, count(*),
      count(*) FILTER (WHERE status = 1), 0, sum(cost), sum(fee), sum(duration_ms), sum(request_bytes),
      sum(response_bytes), sum(tokens_input), sum(tokens_output)
    FROM receipts GROUP BY 1, 2, 3, 4`
  // The log has a bench of its own, and would be busy for a quarter of an hour.
  yield* sql`TRUNCATE receipts_unlogged`
  yield* sql`VACUUM ANALYZE receipts`
  yield* sql`VACUUM ANALYZE usage_hourly`
})

/** As many calls as in the receipts, hour by hour, with different durations. */
const slaHours = Effect.fnUntraced(function* ({ provider }: Members) {
  const store = yield* SlaStore
  const now = (yield* DateTime.now).epochMilliseconds
  const calls = Math.max(1, Math.round(CALLS / (DAYS * 24)))
  const latencies = latenciesOf(Array.from({ length: calls }, (_, n) => 20 + ((n * 7_919) % 600)))
  yield* store.add({
    hours: Array.from({ length: SLA_HOURS }, (_, hour) => ({
      providerId: ProviderId.make(provider.id),
      toolId: undefined,
      hour: DateTime.makeUnsafe(Math.floor(now / HOUR_MS) * HOUR_MS - hour * HOUR_MS),
      calls,
      successes: calls - Math.floor(calls / 50),
      timeouts: 0,
      inputRejected: 0,
      latencyMs: calls * 300,
      latencies
    })),
    days: [],
    tools: [],
    consumers: []
  })
})

const looks = Effect.fnUntraced(function* (page: Page) {
  const taken: Array<number> = []
  for (let n = 0; n < LOOKS; n++) {
    const startedMs = performance.now()
    yield* Effect.promise(() => page.reload({ waitUntil: "commit" }))
    yield* settled(page)
    taken.push(performance.now() - startedMs)
  }
  return taken
})

const program = Effect.fnUntraced(function* (url: string) {
  const startedMs = performance.now()
  const found = yield* members(url)
  yield* fill(found)
  yield* slaHours(found)
  process.stdout.write(`${CALLS} calls loaded in ${((performance.now() - startedMs) / 1_000).toFixed(0)} s\n`)
  const opened = yield* browser
  const rows: Array<ReadonlyArray<string>> = [["", "first ms", "median ms", "slowest ms"]]
  for (const [name, path, member] of [
    ["developer", "/developer", found.developer],
    ["provider", "/provider", found.provider]
  ] as const) {
    const { page } = yield* open(opened, `${url}${path}`)
    const firstMs = performance.now()
    yield* signIn(page, member.key)
    yield* settled(page)
    const first = performance.now() - firstMs
    const again = yield* looks(page)
    rows.push([name, first.toFixed(0), median(again).toFixed(0), Math.max(...again).toFixed(0)])
  }
  table(`Dashboards with ${CALLS} calls behind them, in Chromium, ${LOOKS} looks each`, rows)
})

export const dashboards = (): Promise<void> =>
  Effect.gen(function* () {
    const database = yield* temporaryPostgres({ durable: true })
    const service = yield* Effect.acquireRelease(
      Effect.promise(() =>
        startScript(["src/main.ts", "serve", "--port", "0"], /ready at http:\/\/127\.0\.0\.1:(\d+)/u, {
          PROFILE: "production",
          DATABASE_URL: Redacted.value(database.url),
          ALLOW_UPSTREAM: "loopback",
          PAYMENTS: "dry_run",
          RECEIPT_SIGNING_SECRET: "the secret of the dashboards' bench, long enough",
          LOG_SIGNING_KEY: "5e".repeat(32),
          RATE_LIMIT_RPM: "0",
          RATE_LIMIT_IP_RPM: "0",
          RATE_LIMIT_REGISTER_RPM: "0",
          LOG_LEVEL: "Warn"
        })
      ),
      (running) => Effect.promise(() => running.stop())
    )
    yield* program(`http://127.0.0.1:${service.port}`).pipe(
      Effect.provide(
        PostgresSlaStore.layer.pipe(Layer.provideMerge(PgClient.layer({ url: database.url, maxConnections: 2 })))
      )
    )
  }).pipe(Effect.scoped, Effect.runPromise)
