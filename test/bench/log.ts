/**
 * `npm run bench -- log [receipts]`: receipts sequenced per second, proofs, offline verification, and a provider's
 * SLA over all of them, compared with a recomputation from the rows.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Redacted } from "effect"
import { randomUUID } from "node:crypto"
import * as NodeDigest from "../../adapters/crypto/NodeDigest.ts"
import * as NodeEntropy from "../../adapters/crypto/NodeEntropy.ts"
import * as NodeLogSigner from "../../adapters/crypto/NodeLogSigner.ts"
import { verifyReceipt } from "../../adapters/site/verify/ReceiptVerifier.browser.ts"
import * as PostgresAccountStores from "../../adapters/sql/accounts/PostgresAccountStores.ts"
import * as PostgresLogStore from "../../adapters/sql/log/PostgresLogStore.ts"
import * as PostgresReceiptStore from "../../adapters/sql/receipts/PostgresReceiptStore.ts"
import * as PostgresUnitOfWork from "../../adapters/sql/shared/PostgresUnitOfWork.ts"
import * as PostgresDisputeStore from "../../adapters/sql/trust/PostgresDisputeStore.ts"
import * as PostgresProviderEvidence from "../../adapters/sql/trust/PostgresProviderEvidence.ts"
import * as PostgresSlaStore from "../../adapters/sql/trust/PostgresSlaStore.ts"
import * as PostgresVerificationStore from "../../adapters/sql/trust/PostgresVerificationStore.ts"
import { ReceiptLog } from "../../domain/log/ReceiptLog.ts"
import { LogHome, makeSequencer, Sequencer } from "../../domain/log/Sequencer.ts"
import { formatProof } from "../../domain/log/Commitment.ts"
import { ProviderId, ReceiptId } from "../../domain/shared/Ids.ts"
import { ProviderTrust } from "../../domain/trust/ProviderTrust.ts"
import { Trust } from "../../domain/trust/Trust.ts"
import { run as migrate } from "../../migrations/index.ts"
import { temporaryPostgres } from "../support/servers/TemporaryPostgres.ts"
import { table } from "./support/Table.ts"

const RECEIPTS = Number(process.argv[3] ?? 1_000_000)
/** In batches: the sequencer is never far behind. */
const ROWS_AT_ONCE = 20_000
const PROOFS = 3_000
const READS = 300
const DAYS = 29

const provider = ProviderId.make(randomUUID())

/** Of one provider, over the last weeks; ids in the order of time, as the service makes them. */
const fill = Effect.fnUntraced(function* (from: number, count: number) {
  const sql = yield* PgClient.PgClient
  yield* sql`INSERT INTO receipts (receipt_id, consumer_id, provider_id, tool_id, called_at, created_at, cost, fee,
      request_bytes, response_bytes, tokens_input, tokens_output, duration_ms, price_version, status, origin, fee_bps, signature,
        tool_name)
    SELECT uuidv7(c.at - now()), k.id, ${provider}::uuid, t.id, c.at, c.at, 500, 50, 300, 120, 10, 20,
      20 + (c.n * 7919) % 400 + CASE WHEN c.n % 97 = 0 THEN (c.n * 31) % 9000 ELSE 0 END, 1,
      CASE WHEN c.n % 50 = 0 THEN 2 WHEN c.n % 333 = 0 THEN 3 ELSE 1 END, 1, 1000, decode(md5(c.n::text) || md5(c.n::text), 'hex'),
      'tool_' || t.n
    FROM (SELECT n, date_trunc('milliseconds', now() - interval '29 days' + n * (interval '29 days' / ${RECEIPTS})) AS at
      FROM generate_series(${from}::int8, ${from + count - 1}::int8) n) c
    JOIN bench_consumers k ON k.n = (c.n * 7919) % 1000 JOIN bench_tools t ON t.n = c.n % 5 ORDER BY c.n`
  yield* sql`INSERT INTO receipts_unlogged (first_receipt, receipt_ids, consumer_id) SELECT (array_agg(receipt_id))[1], array_agg(receipt_id), (array_agg(consumer_id))[1] FROM (
      SELECT receipt_id, row_number() OVER (ORDER BY receipt_id DESC) AS n FROM receipts LIMIT ${count}
    ) r GROUP BY n / 64`
})

const prepare = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  yield* sql`INSERT INTO providers (id, name, email, endpoint_url, description, pricing_model, default_price_microcents, created_at, handle)
    VALUES (${provider}, 'Bench', 'bench@example.org', 'http://127.0.0.1:9/', '', 'per_call', 0, now(), 'seeded')`
  yield* sql`INSERT INTO consumers (id, name, email, use_case, rate_limit_rpm, created_at)
    SELECT gen_random_uuid(), 'Agent ' || n, 'agent' || n || '@example.org', '', 60, now() FROM generate_series(1, 1000) n`
  yield* sql`CREATE TABLE bench_consumers AS SELECT row_number() OVER () - 1 AS n, id FROM consumers`
  yield* sql`CREATE TABLE bench_tools AS SELECT n, gen_random_uuid() AS id FROM generate_series(0, 4) n`
})

const timed = Effect.fnUntraced(function* (times: number, one: (n: number) => Effect.Effect<unknown>) {
  const taken: Array<number> = []
  for (let n = 0; n < times; n++) {
    const startedMs = performance.now()
    yield* one(n)
    taken.push(performance.now() - startedMs)
  }
  const sorted = taken.toSorted((a, b) => a - b)
  return { p50: sorted[Math.floor(times / 2)]!, p99: sorted[Math.floor(times * 0.99)]! }
})

const ms = (value: number): string => value.toFixed(2)

const sequenced = Effect.gen(function* () {
  const { sequence } = yield* Sequencer
  let seconds = 0
  for (let from = 0; from < RECEIPTS; from += ROWS_AT_ONCE) {
    yield* fill(from, Math.min(ROWS_AT_ONCE, RECEIPTS - from))
    const startedMs = performance.now()
    while ((yield* sequence) > 0);
    seconds += (performance.now() - startedMs) / 1_000
  }
  const sql = yield* PgClient.PgClient
  const [size] = yield* sql<{ readonly bytes: number }>`
    SELECT (pg_total_relation_size('receipt_log_places') + pg_total_relation_size('receipt_log_tiles'))::float8 AS bytes`
  table(`${RECEIPTS} receipts put into the log, and followed`, [
    ["seconds", "receipts a second", "bytes a receipt"],
    [seconds.toFixed(1), (RECEIPTS / seconds).toFixed(0), (size!.bytes / RECEIPTS).toFixed(0)]
  ])
})

const proofs = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const log = yield* ReceiptLog
  const [open] = yield* log.logs
  const rows = yield* sql<{ readonly id: string }>`
    SELECT receipt_id AS id FROM receipts TABLESAMPLE SYSTEM (5) ORDER BY random() LIMIT ${PROOFS}`
  const ids = rows.map(({ id }) => ReceiptId.make(`rcpt_${id.replaceAll("-", "")}`))
  const made = yield* timed(ids.length, (n) => Effect.orDie(log.prove(ids[n]!, undefined)))
  const some = yield* Effect.forEach(ids.slice(0, 500), (id) => Effect.orDie(log.prove(id, undefined)))
  let wrong = 0
  const checked = yield* timed(some.length, (n) =>
    Effect.promise(async () => {
      const { receipt, ...proof } = some[n]!
      const shown = { ...receipt, cost_microcents: Number(receipt.cost_microcents) }
      if (!(await verifyReceipt(shown, formatProof(proof), open!.key)).valid) wrong++
    })
  )
  table(`Proofs from a log of ${open!.size} leaves`, [
    ["", "p50 ms", "p99 ms", "wrong"],
    ["made", ms(made.p50), ms(made.p99), ""],
    ["verified offline", ms(checked.p50), ms(checked.p99), String(wrong)]
  ])
})

const standing = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const trust = yield* Trust
  // As the service does every few seconds.
  yield* (yield* ProviderTrust).refresh
  const slaReads = yield* timed(READS, () => Effect.orDie(trust.sla(provider)))
  const scoreReads = yield* timed(READS, () => Effect.orDie(trust.score(provider)))
  const { sla } = yield* Effect.orDie(trust.sla(provider))
  const [row] = yield* sql<{ readonly calls: bigint; readonly successes: bigint; readonly p95: number }>`
    SELECT count(*) AS calls, count(*) FILTER (WHERE status = 1) AS successes,
      percentile_disc(0.95) WITHIN GROUP (ORDER BY duration_ms) AS p95
    FROM receipts WHERE provider_id = ${provider}`
  const same = Number(row!.calls) === sla.calls && Number(row!.successes) === sla.successes
  const off = Math.abs(sla.p95Ms! - row!.p95) / row!.p95
  table(`How a provider stands after ${sla.calls} calls in ${DAYS} days`, [
    ["", "p50 ms", "p99 ms"],
    ["sla", ms(slaReads.p50), ms(slaReads.p99)],
    ["trust", ms(scoreReads.p50), ms(scoreReads.p99)]
  ])
  table("The SLA against a recomputation from the rows", [
    ["counts agree", "p95 from rows", "p95 shown", "off by"],
    [String(same), String(row!.p95), String(sla.p95Ms), `${(off * 100).toFixed(2)} %`]
  ])
})

export const log = (): Promise<void> =>
  Effect.gen(function* () {
    const { url } = yield* temporaryPostgres({ durable: true })
    const stores = Layer.mergeAll(
      PostgresAccountStores.layer,
      PostgresDisputeStore.layer,
      PostgresLogStore.layer,
      PostgresProviderEvidence.layer,
      PostgresReceiptStore.layer,
      PostgresSlaStore.layer,
      PostgresUnitOfWork.layer,
      PostgresVerificationStore.layer,
      NodeEntropy.layer,
      NodeDigest.layer,
      NodeLogSigner.layer(Redacted.make("5eed".repeat(16))),
      Layer.succeed(LogHome, "localhost/log")
    ).pipe(Layer.provideMerge(PgClient.layer({ url, maxConnections: 4 })))
    const sequencer = Layer.effect(
      Sequencer,
      Effect.flatMap(ProviderTrust, ({ follow }) => makeSequencer({ follow }))
    )
    const services = Layer.mergeAll(ReceiptLog.layer, sequencer).pipe(
      Layer.provideMerge(ProviderTrust.layer),
      Layer.provideMerge(Trust.layer),
      Layer.provideMerge(stores)
    )
    yield* Effect.gen(function* () {
      yield* migrate
      yield* prepare
      yield* sequenced
      // So many rows at once cause hours of vacuum in the database, unlike a day's traffic.
      const sql = yield* PgClient.PgClient
      yield* sql`VACUUM ANALYZE`
      yield* sql`CHECKPOINT`
      yield* proofs
      yield* standing
    }).pipe(Effect.provide(services))
  }).pipe(Effect.scoped, Effect.runPromise)
