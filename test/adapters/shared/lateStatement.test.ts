/**
 * A call that the lane opened again over another connection, because the first one was silent; then the first
 * statement arrives late.
 */
import { PgClient } from "@effect/sql-pg"
import { assert, it } from "@effect/vitest"
import { Context, DateTime, Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import * as PostgresCallStore from "../../../adapters/sql/metering/PostgresCallStore.ts"
import { Ledger } from "../../../domain/ledger/Ledger.ts"
import { CallStore } from "../../../domain/metering/CallStore.ts"
import { postgresLedgerPorts } from "../../contracts/ledgerPorts.ts"
import { aCall, atOnce, closingOf, consumerWith, settled } from "../../contracts/ledgerSamples.ts"
import { PostgresTest } from "../../support/servers/PostgresTest.ts"
import { aWay } from "../../support/servers/TcpProxy.ts"

/** Long enough for a busy machine to respond. */
const SILENCE_MS = 3_000

const overAWay = Effect.gen(function* () {
  const database = new URL(Redacted.value((yield* PostgresTest).url))
  const way = yield* aWay(database.hostname, Number(database.port))
  const url = new URL(database)
  url.port = String(way.address.port)
  const services = yield* Layer.build(
    Layer.effect(CallStore, PostgresCallStore.make(undefined, SILENCE_MS)).pipe(
      Layer.provide(PgClient.layer({ url: Redacted.make(url.href), maxConnections: 1 }))
    )
  )
  return { way, calls: Context.get(services, CallStore) }
})

/** Until no session of the lane runs a statement. */
const settledDown = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.sleep("500 millis")
  for (;;) {
    const busy = yield* sql`SELECT 1 FROM pg_stat_activity WHERE datname = current_database()
      AND application_name LIKE '% calls' AND state <> 'idle'`
    if (busy.length === 0) return
    yield* Effect.sleep("50 millis")
  }
})

it.layer(postgresLedgerPorts, { timeout: "60 seconds", excludeTestServices: true })("A late statement", (it) => {
  it.effect.each([1, 5])("opens nothing that was closed meanwhile, alone or in a batch of %d", (many) =>
    Effect.gen(function* () {
      const { calls, way } = yield* overAWay
      const consumerId = yield* consumerWith(1_000_000)
      const direct = yield* CallStore
      const opening = Effect.flatMap(aCall(consumerId), (call) => Effect.as(calls.open(call), call))
      yield* Effect.flatMap(opening, (call) => Effect.flatMap(closingOf(call), calls.close))
      way.freeze()
      const opened = yield* atOnce(many, () => opening)
      yield* Effect.forEach(opened, (call) => Effect.flatMap(closingOf(call), calls.close))
      way.thaw()
      yield* settledDown
      const wallet = yield* (yield* Ledger).wallet(consumerId)
      assert.strictEqual(wallet.held, 0n)
      assert.strictEqual(wallet.debits, BigInt(many + 1) * 1_000n)
      assert.deepStrictEqual(yield* direct.overdue(DateTime.makeUnsafe("2100-01-01T00:00:00Z"), 100), [])
      yield* Effect.flatMap(aCall(consumerId), settled)
    })
  )
})
