/** A migration that has to lock what transactions use: it steps back, and they go on. */
import { assert, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { Migrator, SqlClient } from "effect/sql"
import { patiently, yielding } from "../../../migrations/YieldingLocks.ts"
import { until } from "../../support/servers/EmbeddedFolders.ts"
import { PostgresTest } from "../../support/servers/PostgresTest.ts"

const TABLE = "migrations_of_this_test"

it.layer(PostgresTest.layer, { timeout: "60 seconds", excludeTestServices: true })("A migration", (it) => {
  it.effect("gives its locks back to a transaction that waits for them, and runs again", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`CREATE TABLE first (id int8)`
      yield* sql`CREATE TABLE second (id int8)`
      // Otherwise the server would stop one of the two after a second.
      const findNoDeadlock = sql`SET LOCAL deadlock_timeout = '10min'`
      const second = yield* Deferred.make<void>()
      const goOn = yield* Deferred.make<void>()
      const call = yield* Effect.forkChild(
        sql.withTransaction(
          Effect.gen(function* () {
            yield* findNoDeadlock
            yield* sql`INSERT INTO second VALUES (1)`
            yield* Deferred.succeed(second, undefined)
            yield* Deferred.await(goOn)
            yield* sql`INSERT INTO first VALUES (1)`
          })
        )
      )
      yield* Deferred.await(second)

      const notes = yielding(
        Effect.gen(function* () {
          yield* findNoDeadlock
          yield* sql`ALTER TABLE first ADD COLUMN note text`
          yield* sql`ALTER TABLE second ADD COLUMN note text`
        })
      )
      const loader = Migrator.fromRecord({ "0001_notes": notes })
      const migrating = yield* Effect.forkChild(patiently(Migrator.make({})({ loader, table: TABLE })))
      yield* until(
        "the migration keeps the first table and waits for the second",
        sql`SELECT FROM pg_locks WHERE relation = 'second'::regclass AND mode = 'AccessExclusiveLock' AND NOT granted`.pipe(
          Effect.map((waiting) => waiting.length > 0),
          Effect.orDie
        )
      )
      yield* Deferred.succeed(goOn, undefined)
      yield* Fiber.join(call)
      assert.deepStrictEqual(yield* Fiber.join(migrating), [[1, "notes"]])
      assert.deepStrictEqual(yield* sql`SELECT id::int4, note FROM first`, [{ id: 1, note: null }])
    })
  )
})
