/**
 * `npm run bench -- usage [calls]`: one consumer with ten million calls over 90 days, loaded by COPY;
 * the summary over 90 days and the first page of its calls, with their latencies at the 99th percentile.
 */
import { PgClient } from "@effect/sql-pg"
import { DateTime, Effect, Layer } from "effect"
import { hash, randomUUID } from "node:crypto"
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as PostgresUsageStore from "../../adapters/sql/metering/PostgresUsageStore.ts"
import { Usage } from "../../domain/metering/Usage.ts"
import { ConsumerId } from "../../domain/shared/Ids.ts"
import { run as migrate } from "../../migrations/index.ts"
import { temporaryPostgres } from "../support/servers/TemporaryPostgres.ts"
import { table } from "./support/Table.ts"
import type { StoreUnavailable } from "../../domain/shared/StoreUnavailable.ts"

const CALLS = Number(process.argv[3] ?? 10_000_000)
const DAYS_MS = 90 * 24 * 3_600_000
const TOOLS = 20
const ASKED_TIMES = 200
const ROWS_AT_ONCE = 250_000
const COLUMNS = `receipt_id, consumer_id, provider_id, tool_id, called_at, created_at, cost, fee, request_bytes,
  response_bytes, tokens_input, tokens_output, duration_ms, price_version, status, origin, signature, tool_name`

/** The server reads the files that are written here, under an account of its own. */
const readableFolder = Effect.acquireRelease(
  Effect.sync(() => {
    const folder = mkdtempSync(join(tmpdir(), "atb-bench-copy-"))
    chmodSync(folder, 0o755)
    return folder
  }),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

/**
 * Lines of COPY's text format. Ids as the service makes them: milliseconds first, so that their order is that of
 * time.
 */
const rowsOf = (consumerId: ConsumerId, provider: string) => {
  const tools = Array.from({ length: TOOLS }, () => randomUUID())
  return (n: number, calledAtMs: number): string => {
    const hex = calledAtMs.toString(16).padStart(12, "0")
    const tail = hash("sha256", String(n), "hex")
    const id = `${hex.slice(0, 8)}-${hex.slice(8)}-7${tail.slice(0, 3)}-8${tail.slice(3, 6)}-${tail.slice(6, 18)}`
    const at = new Date(calledAtMs).toISOString()
    const status = n % 50 === 0 ? 2 : 1
    return `${id}\t${consumerId}\t${provider}\t${tools[n % TOOLS]}\t${at}\t${at}\t500\t50\t300\t120\t10\t20\t${n % 400}\t1\t${status}\t1\t\\\\x${tail}\ttool\n`
  }
}

const fill = Effect.fnUntraced(function* (consumerId: ConsumerId) {
  const sql = yield* PgClient.PgClient
  const provider = randomUUID()
  yield* sql`INSERT INTO providers (id, name, email, endpoint_url, description, pricing_model, default_price_microcents, created_at, handle)
    VALUES (${provider}, 'Bench', 'bench@example.org', 'http://127.0.0.1:9/', '', 'per_call', 0, now(), 'seeded')`
  const folder = yield* readableFolder
  const nowMs = Date.now()
  const rowOf = rowsOf(consumerId, provider)
  for (let from = 0; from < CALLS; from += ROWS_AT_ONCE) {
    const rows = Array.from({ length: Math.min(CALLS - from, ROWS_AT_ONCE) }, (_, n) =>
      rowOf(from + n, Math.floor(nowMs - ((CALLS - from - n) / CALLS) * DAYS_MS))
    )
    const file = join(folder, `${from}.tsv`)
    yield* Effect.sync(() => writeFileSync(file, rows.join("")))
    yield* sql.unsafe(`COPY receipts (${COLUMNS}) FROM '${file}'`)
    yield* Effect.sync(() => rmSync(file))
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

const timed = Effect.fnUntraced(function* (ask: Effect.Effect<unknown, StoreUnavailable>) {
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
  process.stdout.write(`${CALLS} calls loaded by COPY in ${((performance.now() - startedMs) / 1_000).toFixed(0)} s\n`)
  const usage = yield* Usage
  const owner = { role: "consumer", ownerId: consumerId } as const
  const page = { limit: 50, offset: 0, after: undefined }
  const unfiltered = { toolId: undefined, status: undefined }
  const { totals } = yield* usage.summary(owner, "90d")
  table(
    `Usage of a consumer with ${totals.calls} calls in 90 days, ${ASKED_TIMES} times each, until ${DateTime.formatIso(
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
