/**
 * The schema has two parts. The lane part holds everything that one call reads or writes, and works without the main part.
 */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { BudgetId, BudgetStore } from "../../domain/ledger/Budgets.ts"
import { LedgerStore } from "../../domain/ledger/LedgerStore.ts"
import { CallStore } from "../../domain/metering/CallStore.ts"
import { Entropy } from "../../domain/shared/Cryptography.ts"
import * as migrations from "../../migrations/index.ts"
import { postgresLedgerPorts } from "../contracts/ledgerPorts.ts"
import { aCall, consumerWith, money, OPENED_AT, settled } from "../contracts/ledgerSamples.ts"
import { isCluster } from "../support/servers/CitusCluster.ts"
import { PostgresTest } from "../support/servers/PostgresTest.ts"
import { schemaParts, tableNames } from "../support/checks/SchemaParts.ts"

/** The audit compares what calls did, also those in archives, with what was posted. */
const OF_POSTINGS = ["account_balances", "archived_totals", "posted_transfers"]

class Parts extends Context.Service<
  Parts,
  { readonly lane: ReadonlyArray<string>; readonly main: ReadonlyArray<string> }
>()("agent-tool-billing/test/house/Parts") {
  /** Leaves the database with the whole schema. */
  static readonly layer = Layer.effect(
    Parts,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const parts = yield* schemaParts
      yield* sql`DROP SCHEMA public CASCADE`
      yield* sql`CREATE SCHEMA public`
      yield* migrations.run
      return parts
    })
  )
}

describe.skipIf(isCluster)("On one server, where the schema is made anew", () => {
  it.layer(Parts.layer.pipe(Layer.provideMerge(PostgresTest.layer)), { timeout: "60 seconds" })("The schema", (it) => {
    it.effect("is the lane part, the main part and the list of migrations", () =>
      Effect.gen(function* () {
        const { lane, main } = yield* Parts
        assert.isAbove(lane.length, 10)
        assert.isAbove(main.length, 30)
        assert.sameMembers([...(yield* tableNames)], [...lane, ...main, "agent_tool_billing_migrations"])
      })
    )

    it.effect("has no foreign key between its parts", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { lane } = yield* Parts
        const keys = yield* sql<{ readonly from: string; readonly to: string; readonly name: string }>`
        SELECT conrelid::regclass::text AS from, confrelid::regclass::text AS to, conname::text AS name
        FROM pg_constraint WHERE contype = 'f'`
        assert.isAbove(keys.length, 5)
        assert.deepStrictEqual(
          keys.filter(({ from, to }) => lane.includes(from) !== lane.includes(to)).map(({ name }) => name),
          []
        )
      })
    )

    it.effect("has a primary key on every table", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const without = yield* sql`
        SELECT relname FROM pg_class c WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace
          AND NOT EXISTS (SELECT FROM pg_index i WHERE i.indrelid = c.oid AND i.indisprimary)`
        assert.deepStrictEqual(without, [])
      })
    )

    it.effect("has the consumer in every unique index of the lane part, by which Citus distributes it", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { lane } = yield* Parts
        const indexes = sql<{ readonly table: string; readonly name: string; readonly columns: ReadonlyArray<string> }>`
        SELECT c.relname::text AS table, i.indexrelid::regclass::text AS name,
          ARRAY(SELECT attname::text FROM pg_attribute WHERE attrelid = i.indexrelid) AS columns
        FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
        WHERE i.indisunique AND c.relnamespace = 'public'::regnamespace`
        const without = Effect.map(indexes, (all) =>
          all
            .filter(({ columns, table }) => lane.includes(table) && !columns.includes("consumer_id"))
            .map(({ name }) => name)
        )
        assert.deepStrictEqual(yield* without, [])
        yield* sql`CREATE UNIQUE INDEX planted ON receipts (signature)`
        assert.deepStrictEqual(yield* without, ["planted"])
        yield* sql`DROP INDEX planted`
      })
    )

    it.effect("has no trigger on a table that calls write", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { lane } = yield* Parts
        const triggers = yield* sql<{ readonly table: string; readonly name: string }>`
        SELECT tgrelid::regclass::text AS table, tgname::text AS name FROM pg_trigger WHERE NOT tgisinternal`
        assert.isAbove(triggers.length, 0)
        assert.deepStrictEqual(
          triggers.filter(({ table }) => lane.includes(table)).map(({ name, table }) => `${table} ${name}`),
          []
        )
      })
    )
  })

  it.layer(Parts.layer.pipe(Layer.provideMerge(postgresLedgerPorts)), { timeout: "60 seconds" })(
    "The lane part without the main part",
    (it) => {
      it.effect("opens, closes, replays and audits calls", () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const { main } = yield* Parts
          const consumerId = yield* consumerWith(1_000_000)
          const others = yield* Effect.forEach([1_000, 1_000, 1_000], consumerWith)
          const unused = main.filter((name) => !OF_POSTINGS.includes(name))
          yield* sql`DROP TABLE ${sql.csv(unused.map((name) => sql`${sql(name)}`))}`
          const budget = {
            id: BudgetId.make(yield* (yield* Entropy).uuid),
            consumerId,
            levelId: undefined,
            toolId: undefined,
            providerId: undefined,
            cap: money(1_000_000),
            period: "month",
            createdAt: OPENED_AT
          } as const
          assert.isTrue(yield* (yield* BudgetStore).create(budget, 1))
          const idempotency = { keyHash: "0a".repeat(32), requestHash: "0b".repeat(32) }
          const keyed = yield* aCall(consumerId, { freeTierCalls: 1, idempotency })
          yield* settled(keyed, { cost: 0, answer: { status: 200, headers: {}, body: "{}" } })
          assert.strictEqual((yield* (yield* CallStore).open(keyed))._tag, "Replay")
          const billed = yield* Effect.forEach([consumerId, ...others], (id) => aCall(id))
          yield* Effect.forEach(billed, (call) => settled(call), { concurrency: "unbounded" })
          assert.deepStrictEqual((yield* (yield* LedgerStore).audit).discrepancies, [])
        })
      )
    }
  )
})
