import { assert, it } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { Migrator, SqlClient, type SqlError } from "effect/sql"
import { readdirSync } from "node:fs"
import { CatalogStore } from "../../../domain/catalog/CatalogStore.ts"
import type { ToolId } from "../../../domain/shared/Ids.ts"
import { UnitOfWork } from "../../../domain/shared/StoreUnavailable.ts"
import baseline from "../../../migrations/0001_baseline.ts"
import * as Migrations from "../../../migrations/index.ts"
import { sentenceOf } from "../../../src/StartFailure.ts"
import { postgresPorts } from "../../contracts/ports.ts"
import { aConsumer, aProvider, aTool, upserted } from "../../contracts/samples.ts"
import { PostgresTest } from "../../support/servers/PostgresTest.ts"

/** Why the database rejected a statement. */
const rejectionOf = (statement: Effect.Effect<unknown, SqlError.SqlError>) =>
  Effect.map(Effect.flip(statement), ({ reason }) => reason._tag)

it.layer(postgresPorts, { timeout: "60 seconds", excludeTestServices: true })("The schema", (it) => {
  it.effect("consists of every numbered migration of the folder", () =>
    Effect.sync(() => {
      const files = readdirSync(new URL("../../../migrations", import.meta.url))
        .filter((file) => /^\d+_.*\.ts$/u.test(file))
        .map((file) => file.replace(/_baseline\.ts$/u, `_baseline_${Migrations.BASELINE_DIGEST}`).replace(/\.ts$/u, ""))
      assert.deepStrictEqual(Migrations.names, files.toSorted())
      assert.deepStrictEqual(
        Migrations.names.map((name) => Number.parseInt(name, 10)),
        Migrations.names.map((_, n) => n + 1)
      )
      assert.strictEqual(Migrations.latestVersion, Migrations.names.length)
    })
  )

  it.effect("does not change when migrations run again, also concurrently", () =>
    Effect.gen(function* () {
      const runs = yield* Effect.all([Migrations.run, Migrations.run, Migrations.run], { concurrency: "unbounded" })
      assert.deepStrictEqual(runs, [[], [], []])
    })
  )

  it.effect("rejects amounts below zero and above the largest safe integer", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const provider = yield* aProvider()
      const tool = yield* aTool(provider)
      yield* upserted(tool)
      for (const amount of [-1n, 9_007_199_254_740_992n]) {
        const statements = [
          sql`UPDATE providers SET default_price_microcents = ${amount} WHERE id = ${provider.id}`,
          sql`UPDATE tools SET price_microcents = ${amount} WHERE id = ${tool.id}`,
          sql`UPDATE tools SET effective_price_microcents = ${amount} WHERE id = ${tool.id}`,
          sql`UPDATE tools SET max_cost_microcents = ${amount} WHERE id = ${tool.id}`,
          sql`UPDATE tool_prices SET price_microcents = ${amount} WHERE tool_id = ${tool.id}`
        ]
        for (const statement of statements) assert.strictEqual(yield* rejectionOf(statement), "ConstraintError")
      }
    })
  )

  it.effect("requires one existing owner per key", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const [consumer, provider] = [yield* aConsumer(), yield* aProvider()]
      const insert = (consumerId: string | null, providerId: string | null) => sql`
        INSERT INTO api_keys (id, consumer_id, provider_id, label, prefix, hash, created_at)
        VALUES (gen_random_uuid(), ${consumerId}::uuid, ${providerId}::uuid, '', '', sha256('x'), now())`
      assert.strictEqual(yield* rejectionOf(insert(null, null)), "ConstraintError")
      assert.strictEqual(yield* rejectionOf(insert(consumer.id, provider.id)), "ConstraintError")
      assert.strictEqual(yield* rejectionOf(insert(provider.id, null)), "ConstraintError")
      yield* insert(null, provider.id)
    })
  )

  it.effect("keeps the number of listed tools under concurrent changes", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const store = yield* CatalogStore
      const { atomically } = yield* UnitOfWork
      const tally = Effect.map(
        sql<{ readonly tools: bigint; readonly changes: bigint; readonly counted: bigint }>`
          SELECT sum(tools)::int8 AS tools, sum(changes)::int8 AS changes, (SELECT count(*) FROM tools WHERE withdrawn_at IS NULL) AS counted
          FROM catalog_tallies`,
        ([row]) => row!
      )
      const before = yield* tally
      const provider = yield* aProvider()
      const ids: Array<ToolId> = []
      const one = Effect.fnUntraced(function* (n: number) {
        const { id } = yield* upserted(yield* aTool(provider, { toolName: `tool ${n % 12}` }))
        if (n % 4 === 3) return yield* Effect.fail("taken back")
        ids.push(id)
      })
      yield* Effect.forEach(
        Array.from({ length: 24 }, (_, n) => n),
        (n) => Effect.ignore(atomically(one(n))),
        { concurrency: "unbounded" }
      )
      const after = yield* tally
      assert.strictEqual(after.tools, after.counted)
      assert.strictEqual(after.tools - before.tools, 9n)
      assert.strictEqual(after.changes - before.changes, 18n)
      const [first, second] = [...new Set(ids)]
      const now = yield* DateTime.now
      for (const id of [first!, second!, second!]) yield* store.withdraw(provider.id, id, now)
      const fewer = yield* tally
      assert.deepStrictEqual([fewer.tools, fewer.counted], [after.tools - 2n, after.counted - 2n])
      yield* sql`DELETE FROM tool_prices WHERE tool_id = ${first!}`
      yield* sql`DELETE FROM tools WHERE id = ${first!}`
      yield* sql`DELETE FROM tools WHERE false`
      assert.deepStrictEqual(yield* tally, {
        tools: fewer.tools,
        changes: fewer.changes + 1n,
        counted: fewer.counted
      })
    })
  )
})

it.layer(PostgresTest.layer, { timeout: "60 seconds", excludeTestServices: true })(
  "A database with other tables",
  (it) => {
    const tables = Effect.flatMap(
      SqlClient.SqlClient,
      (sql) => sql`SELECT relname::text AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace ORDER BY 1`
    )
    const emptySchema = Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`DROP SCHEMA public CASCADE`
      yield* sql`CREATE SCHEMA public`
    })

    const rows = (table: string) =>
      Effect.map(
        Effect.flatMap(
          SqlClient.SqlClient,
          (sql) => sql<{ readonly name: string }>`SELECT name FROM ${sql(table)} ORDER BY migration_id`
        ),
        (found) => found.map(({ name }) => name)
      )
    const nameOf = (name: string) => name.replace(/^\d+_/u, "")
    const BASELINE = nameOf(Migrations.names[0]!)

    /** A database with the baseline alone, recorded where builds from before 2026-11-28 recorded it. */
    const asOfEarlierBuild = Effect.fnUntraced(function* (name: string) {
      const sql = yield* SqlClient.SqlClient
      yield* sql`DROP TABLE agent_tool_billing_migrations`
      yield* sql`CREATE TABLE effect_sql_migrations (
        migration_id int4 PRIMARY KEY, created_at timestamptz NOT NULL DEFAULT now(), name text NOT NULL)`
      yield* sql`INSERT INTO effect_sql_migrations (migration_id, name) VALUES (1, ${name})`
    })

    /** The migrator of a program that embeds the service, in the same database. */
    const hostMigrator = Migrator.make({})({
      loader: Migrator.fromRecord({
        "0001_notes": Effect.flatMap(SqlClient.SqlClient, (sql) => sql`CREATE TABLE notes (id int8)`)
      })
    })

    for (const [first, order] of [
      ["host", [hostMigrator, Migrations.run]],
      ["service", [Migrations.run, hostMigrator]]
    ] as const) {
      it.effect(`has its own migrations and those of its host: the ${first}'s first`, () =>
        Effect.gen(function* () {
          yield* emptySchema
          for (const migrator of order) assert.isAbove((yield* migrator).length, 0)
          for (const migrator of order) assert.deepStrictEqual(yield* migrator, [])
          assert.deepStrictEqual(yield* rows("effect_sql_migrations"), ["notes"])
          assert.deepStrictEqual(yield* rows("agent_tool_billing_migrations"), Migrations.names.map(nameOf))
        })
      )
    }

    it.effect("of an earlier build is carried over once, by nodes that start together", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* emptySchema
        yield* baseline
        yield* sql`CREATE TABLE agent_tool_billing_migrations (id int4)`
        yield* asOfEarlierBuild(BASELINE)
        const applied = yield* Effect.all([Migrations.run, Migrations.run, Migrations.run], {
          concurrency: "unbounded"
        })
        assert.deepStrictEqual(
          applied.flat().map(([, name]) => name),
          Migrations.names.slice(1).map(nameOf)
        )
        assert.deepStrictEqual(yield* rows("agent_tool_billing_migrations"), Migrations.names.map(nameOf))
        const [left] = yield* sql`SELECT to_regclass('effect_sql_migrations') IS NULL AS is_gone`
        assert.deepStrictEqual(left, { is_gone: true })
        assert.isAbove((yield* hostMigrator).length, 0)
      })
    )

    it.effect("of an earlier build keeps its record where the carrying over fails", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* emptySchema
        yield* Migrations.run
        yield* asOfEarlierBuild(BASELINE)
        // Another program's object has the name.
        yield* sql`CREATE TYPE agent_tool_billing_migrations AS ENUM ('a')`
        yield* Effect.flip(Migrations.run)
        assert.deepStrictEqual(yield* rows("effect_sql_migrations"), [BASELINE])
      })
    )

    it.effect("is left unchanged if its schema is from before the first release", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* emptySchema
        yield* sql`CREATE TABLE effect_sql_migrations (
        migration_id int4 PRIMARY KEY, created_at timestamptz NOT NULL DEFAULT now(), name text NOT NULL)`
        yield* sql`INSERT INTO effect_sql_migrations (migration_id, name)
        VALUES (1, 'accounts_and_catalogue'), (33, 'market_figures')`
        yield* sql`CREATE TABLE receipts (receipt_id text PRIMARY KEY)`
        const before = yield* tables
        const rejected = yield* Effect.flip(Migrations.run)
        assert.include(
          sentenceOf(rejected),
          "has schema version 33 from before the first release, which cannot be upgraded"
        )
        assert.deepStrictEqual(yield* tables, before)
      })
    )

    for (const name of ["baseline", "baseline_0123456789ab"]) {
      it.effect(`is left unchanged if another build of the baseline made it: ${name}`, () =>
        Effect.gen(function* () {
          yield* emptySchema
          yield* Migrations.run
          yield* asOfEarlierBuild(name)
          const rejected = yield* Effect.flip(Migrations.run)
          assert.include(
            sentenceOf(rejected),
            "has schema version 1 from before the first release, which cannot be upgraded"
          )
        })
      )
    }

    it.effect("is left unchanged if one of them has the name of a table of the schema", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* emptySchema
        yield* sql`CREATE TABLE wallets (id int8)`
        const rejected = yield* Effect.flip(Migrations.run)
        assert.include(sentenceOf(rejected), `relation "wallets" already exists. Nothing was applied.`)
        const left = yield* tables
        assert.deepStrictEqual([...left], [{ name: "wallets" }])
      })
    )

    it.effect("of a later release keeps its schema", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* emptySchema
        yield* Migrations.run
        yield* sql`INSERT INTO agent_tool_billing_migrations (migration_id, name) VALUES (99, 'of_a_later_release')`
        assert.deepStrictEqual(yield* Migrations.run, [])
      })
    )
  }
)
