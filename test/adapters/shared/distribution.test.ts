/**
 * More than one PostgreSQL (docs/capacity.md): docs/citus.sql has a place for every table, and a call changes rows
 * of the lane part and of its consumer only.
 */
import { PgClient } from "@effect/sql-pg"
import { assert, it } from "@effect/vitest"
import { DateTime, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { readFileSync } from "node:fs"
import { LedgerStore } from "../../../domain/ledger/LedgerStore.ts"
import { CallStore } from "../../../domain/metering/CallStore.ts"
import { postgresLedgerNode, postgresLedgerPorts } from "../../contracts/ledgerPorts.ts"
import { aCall, consumerWith, settled } from "../../contracts/ledgerSamples.ts"
import { PostgresTest } from "../../support/servers/PostgresTest.ts"
import { schemaParts, tableNames } from "../../support/checks/SchemaParts.ts"
import { connectedTo } from "../../support/servers/TestDatabases.ts"

const script = readFileSync(new URL("../../../docs/citus.sql", import.meta.url), "utf8")
/** Totals of other accounts, and receipts that wait for the log, which are added or deleted and never changed. */
const OF_NO_CONSUMER = ["account_balances", "receipts_unlogged"]
const named = (pattern: RegExp) => [...script.matchAll(pattern)].map(([, name]) => name!)
const laneTables = named(/^ALTER TABLE (\w+) SET SCHEMA lane_0;$/gmu)
const mainTables = named(/^-- main: (\w+)$/gmu)

it.layer(PostgresTest.layer, { timeout: "60 seconds", excludeTestServices: true })("docs/citus.sql", (it) => {
  it.effect("has the lane part and the main part of the schema", () =>
    Effect.gen(function* () {
      const { lane, main } = yield* schemaParts
      assert.sameMembers(laneTables, lane)
      assert.sameMembers(mainTables, [...main, "agent_tool_billing_migrations"])
    })
  )
})

it.layer(postgresLedgerPorts, { timeout: "60 seconds", excludeTestServices: true })("Calls", (it) => {
  it.effect("change rows of the lane part and of their consumer only", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const other = yield* consumerWith(1_000_000)
      const consumerId = yield* consumerWith(1_000_000)
      yield* (yield* CallStore).open(yield* aCall(other))
      const [before] = yield* sql<{ readonly id: bigint }>`SELECT pg_current_xact_id()::text::int8 AS id`
      const keyed = yield* aCall(consumerId, {
        freeTierCalls: 1,
        openedAt: yield* DateTime.now,
        idempotency: { keyHash: "0a".repeat(32), requestHash: "0b".repeat(32) }
      })
      yield* settled(keyed, { cost: 0, answer: { status: 200, headers: {}, body: "{}" } })
      yield* settled(yield* aCall(consumerId))

      const withConsumer = yield* sql<{ readonly name: string }>`
        SELECT table_name::text AS name FROM information_schema.columns WHERE column_name = 'consumer_id'`
      const touched = new Map<string, ReadonlyArray<string | null>>()
      for (const name of yield* tableNames) {
        const owner = withConsumer.some((table) => table.name === name) ? "consumer_id::text" : "NULL::text"
        const rows = yield* sql<{ readonly owner: string | null }>`
          SELECT ${sql.literal(owner)} AS owner FROM ${sql(name)} WHERE xmin::text::int8 > ${before!.id}`
        if (rows.length > 0) {
          const owners = rows.map((row) => row.owner)
          touched.set(name, owners)
        }
      }
      for (const name of ["wallets", "receipts", "receipts_unlogged", "free_tier_usage", "call_idempotency"]) {
        assert.isTrue(touched.has(name), name)
      }
      for (const [name, owners] of touched) {
        assert.include(laneTables, name)
        if (!OF_NO_CONSUMER.includes(name)) assert.deepStrictEqual(new Set(owners), new Set([consumerId]), name)
      }
    })
  )
})

/** A statement ends with a semicolon at the end of a line. Those of the DO block are indented, or end the block. */
const statements = script
  .replace("CREATE EXTENSION IF NOT EXISTS citus;", "")
  .replace("SELECT citus_schema_distribute('lane_0');", "")
  .replaceAll(/^--.*$/gmu, "")
  .split(/(?<=^(?:\S.*|END \$\$);)$/mu)
  .map((statement) => statement.trim())
  .filter((statement) => statement !== "")

/** A database that the script has changed, without Citus; the client finds the lane part in its schema. */
const movedLane = PgClient.layerFrom(
  Effect.gen(function* () {
    const { url } = yield* PostgresTest
    yield* Effect.flatMap(SqlClient.SqlClient, (sql) =>
      Effect.forEach(statements, (statement) => sql.unsafe(statement))
    ).pipe(connectedTo(url))
    return yield* PgClient.make({ url, maxConnections: 4, startupParameters: { search_path: "lane_0, public" } })
  }).pipe(Effect.orDie)
).pipe(Layer.provideMerge(PostgresTest.layerDatabase))

it.layer(postgresLedgerNode.pipe(Layer.provideMerge(movedLane)), { timeout: "60 seconds", excludeTestServices: true })(
  "The schema of docs/citus.sql",
  (it) => {
    it.effect("has the whole lane part in lane_0, where calls open and close", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const left = yield* sql`
          SELECT proname::text AS name FROM pg_proc WHERE pronamespace = 'public'::regnamespace`
        assert.deepStrictEqual(left, [{ name: "tally_catalog" }])
        assert.sameMembers([...mainTables], [...(yield* tableNames)])
        const consumerId = yield* consumerWith(10_000)
        const calls = yield* Effect.forEach([1, 2, 3], () => aCall(consumerId))
        yield* Effect.forEach(calls, (call) => settled(call), { concurrency: "unbounded" })
        assert.deepStrictEqual((yield* (yield* LedgerStore).audit).discrepancies, [])
      })
    )
  }
)
