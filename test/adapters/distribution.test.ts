/**
 * Growing past one PostgreSQL (docs/growing.md): every table has its place in docs/citus.sql, the keys of distributed ones
 * begin where a consumer's rows lie, and a call changes rows of its consumer alone.
 */
import { assert, it } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { readFileSync } from "node:fs"
import { CallStore } from "../../domain/metering/CallStore.ts"
import { postgresLedgerPorts } from "../contracts/ledgerPorts.ts"
import { aCall, closingOf, consumerWith } from "../contracts/ledgerSamples.ts"

const script = readFileSync(new URL("../../docs/citus.sql", import.meta.url), "utf8")
const named = (pattern: RegExp) => [...script.matchAll(pattern)]
const columnOf = new Map(
  named(/^SELECT create_distributed_table\('(\w+)', '(\w+)'/gmu).map(([, table, column]) => [table!, column!])
)
const references = named(/^SELECT create_reference_table\('(\w+)'/gmu).map(([, table]) => table!)
const locals = named(/^-- local: (\w+)$/gmu).map(([, table]) => table!)

/** A call's transfers have no reference; docs/growing.md says what becomes of those that have. */
const KEYS_TO_BE_MOVED = ["transfers_reference"]
/** Provider and platform credits, until they are swept together from the transfers: docs/growing.md. */
const SHARED_BY_CALLS = ["account_balances"]

const tables = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.map(
    sql<{ readonly name: string }>`SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY 1`,
    (rows) => rows.map(({ name }) => name)
  )
)

it.layer(postgresLedgerPorts, { timeout: "60 seconds" })("Beyond one PostgreSQL", (it) => {
  it.effect("every table has one place", () =>
    Effect.gen(function* () {
      const placed = [...columnOf.keys(), ...references, ...locals]
      // The migrator's own table: tests migrate without it, or with it.
      assert.sameMembers(
        placed.filter((name) => name !== "effect_sql_migrations"),
        (yield* tables).filter((name) => name !== "effect_sql_migrations")
      )
    })
  )

  it.effect("the keys of a distributed table have its column, and lead to no table elsewhere", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const keys = yield* sql<{
        readonly table: string
        readonly name: string
        readonly columns: ReadonlyArray<string>
      }>`
        SELECT i.indrelid::regclass::text AS table, i.indexrelid::regclass::text AS name, (SELECT array_agg(a.attname::text)
          FROM pg_attribute a WHERE a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey)) AS columns
        FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
        WHERE i.indisunique AND c.relnamespace = 'public'::regnamespace`
      const ofDistributed = keys.filter(({ table }) => columnOf.has(table))
      assert.isAbove(ofDistributed.length, 10)
      const without = ofDistributed.filter(({ columns, table }) => !columns.includes(columnOf.get(table)!))
      assert.deepStrictEqual(
        without.map(({ name }) => name),
        KEYS_TO_BE_MOVED
      )

      const foreign = yield* sql<{ readonly name: string; readonly from: string; readonly to: string }>`
        SELECT conname AS name, conrelid::regclass::text AS from, confrelid::regclass::text AS to
        FROM pg_constraint WHERE contype = 'f'`
      const dropped = named(/DROP CONSTRAINT (\w+);/gu).map(([, name]) => name!)
      const impossible = foreign.filter(
        ({ from, to }) => columnOf.has(to) !== columnOf.has(from) && !references.includes(to)
      )
      assert.sameMembers(
        impossible.map(({ name }) => name),
        dropped
      )
    })
  )

  it.effect("a call changes rows of its consumer alone", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const calls = yield* CallStore
      const other = yield* consumerWith(1_000_000)
      const consumerId = yield* consumerWith(1_000_000)
      yield* calls.open(yield* aCall(other))
      const [before] = yield* sql<{ readonly id: bigint }>`SELECT pg_current_xact_id()::text::int8 AS id`
      const call = yield* aCall(consumerId, {
        freeTierCalls: 1,
        openedAt: yield* DateTime.now,
        idempotency: { keyHash: "0a".repeat(32), requestHash: "0b".repeat(32) }
      })
      yield* calls.open(call)
      const stored = { status: 200, headers: {}, body: "{}" }
      yield* Effect.flatMap(closingOf(call, { cost: 0, answer: stored }), calls.close)
      const paid = yield* aCall(consumerId)
      yield* calls.open(paid)
      yield* Effect.flatMap(closingOf(paid), calls.close)

      const touched = new Map<string, ReadonlyArray<string | null>>()
      for (const name of yield* tables) {
        const column = columnOf.get(name)
        const rows = yield* sql<{ readonly owner: string | null }>`
          SELECT ${column === undefined ? sql.literal("NULL::text") : sql.literal(`${column}::text`)} AS owner
          FROM ${sql(name)} WHERE xmin::text::int8 > ${before!.id}`
        if (rows.length > 0)
          touched.set(
            name,
            rows.map(({ owner }) => owner)
          )
      }
      for (const name of ["wallets", "receipts", "transfers", "usage_hourly", "free_tier_usage", "call_idempotency"]) {
        assert.isTrue(touched.has(name), name)
      }
      for (const [name, owners] of touched) {
        if (SHARED_BY_CALLS.includes(name)) continue
        assert.deepStrictEqual(new Set(owners), new Set([consumerId]), name)
      }
    })
  )
})
