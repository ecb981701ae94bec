/**
 * Ten thousand consumers, an interrupted run, and two concurrent ones that continue it: every consumer has one
 * invoice, and the numbers have no gap.
 */
import { PgClient } from "@effect/sql-pg"
import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { randomUUID } from "node:crypto"
import * as NodeEntropy from "../../adapters/crypto/NodeEntropy.ts"
import * as PostgresInvoiceStore from "../../adapters/sql/invoices/PostgresInvoiceStore.ts"
import * as PostgresLedgerStore from "../../adapters/sql/ledger/PostgresLedgerStore.ts"
import * as PostgresUnitOfWork from "../../adapters/sql/shared/PostgresUnitOfWork.ts"
import type { Month } from "../../domain/invoices/Invoice.ts"
import { Invoicing } from "../../domain/invoices/Invoicing.ts"
import { Ledger } from "../../domain/ledger/Ledger.ts"
import { PostgresTest } from "../support/servers/PostgresTest.ts"

const CONSUMERS = 10_000
const MONTH = "2026-03" as Month

const services = Invoicing.layer.pipe(
  Layer.provideMerge(Ledger.layer),
  Layer.provide([PostgresInvoiceStore.layer, PostgresLedgerStore.layer, PostgresUnitOfWork.layer, NodeEntropy.layer]),
  Layer.provideMerge(PostgresTest.layer)
)

/** Two calls each, at prices that divide without a remainder. */
const fill = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const provider = randomUUID()
  yield* sql`INSERT INTO providers (id, name, email, endpoint_url, description, pricing_model, default_price_microcents, created_at, handle)
    VALUES (${provider}, 'Many', 'many@example.org', 'http://127.0.0.1:9/', '', 'per_call', 0, now(), 'seeded')`
  yield* sql`INSERT INTO consumers (id, name, email, use_case, rate_limit_rpm, created_at)
    SELECT gen_random_uuid(), 'Agent ' || n, 'agent@example.org', '', 60, now() FROM generate_series(1, ${CONSUMERS}) n`
  yield* sql`
    INSERT INTO receipts (receipt_id, consumer_id, provider_id, tool_id, called_at, created_at, cost, fee, request_bytes,
      response_bytes, tokens_input, tokens_output, duration_ms, price_version, status, origin, fee_bps, signature, tool_name)
    SELECT gen_random_uuid(), id, ${provider}::uuid, ${provider}::uuid, at, at, 500, 50, 0, 0, 0, 0, 1, 1, 1, 1, 1000, 'x', 'echo'
    FROM consumers, (VALUES (timestamptz '2026-03-01Z'), (timestamptz '2026-03-31T23:59:59.999Z')) instant (at)`
})

const made = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const [row] = yield* sql<{ readonly many: bigint; readonly owners: bigint; readonly last: number | null }>`
    SELECT count(*) AS many, count(DISTINCT owner_id) AS owners, max(right(number, 6)::int) AS last
    FROM invoices WHERE kind = 'invoice'`
  return [Number(row!.many), Number(row!.owners), row!.last ?? 0]
})

it.layer(services, { timeout: "120 seconds", excludeTestServices: true })("A month of ten thousand consumers", (it) => {
  it.effect("has each invoice once and every number, through an interrupted run and two concurrent ones", () =>
    Effect.gen(function* () {
      const { close } = yield* Invoicing
      yield* fill
      const first = yield* Effect.forkChild(close(MONTH))
      while (((yield* made)[0] ?? 0) === 0) yield* Effect.sleep("2 millis")
      yield* Fiber.interrupt(first)
      const [broken, , brokenLast] = yield* made
      assert.isAbove(broken!, 0)
      assert.isBelow(broken!, CONSUMERS)
      assert.strictEqual(brokenLast, broken)
      const runs = yield* Effect.all([close(MONTH), close(MONTH)], { concurrency: "unbounded" })
      assert.deepStrictEqual(yield* made, [CONSUMERS, CONSUMERS, CONSUMERS])
      assert.strictEqual(runs[0].issued + runs[1].issued, CONSUMERS + 1 - broken!)
      for (const run of runs) assert.deepStrictEqual([run.agrees, run.ledger], [true, BigInt(CONSUMERS * 1_000)])
    })
  )
})
