/**
 * Effects of a hanging node's sessions on other nodes.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Latch, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { client, migrateSchema } from "../../../src/layers/Database.ts"
import { PostgresTest } from "../../support/servers/PostgresTest.ts"

const sessions = (lockTimeoutMs?: number) =>
  Layer.unwrap(Effect.map(PostgresTest, ({ url }) => client({ url, connectionsMax: 2, lockTimeoutMs }))).pipe(
    Layer.provide(PostgresTest.layerDatabase)
  )

it.layer(sessions(), { timeout: "60 seconds", excludeTestServices: true })("A session of the pool", (it) => {
  it.effect("that is idle in a transaction is ended by the server, and releases its locks", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const [usual] = yield* sql`SHOW idle_in_transaction_session_timeout`
      assert.deepStrictEqual(usual, { idle_in_transaction_session_timeout: "20s" })
      const [isLocked, isFree] = [yield* Latch.make(), yield* Latch.make()]
      const hung = sql.withTransaction(
        Effect.gen(function* () {
          yield* sql`SET LOCAL idle_in_transaction_session_timeout = 100`
          yield* sql`SELECT pg_advisory_xact_lock(1)`
          yield* isLocked.open
          yield* isFree.await
          yield* sql`SELECT 1`
        })
      )
      const hanging = yield* Effect.forkChild(Effect.exit(hung))
      yield* isLocked.await
      // Waits until the server has ended the session that has the lock.
      yield* sql.withTransaction(sql`SELECT pg_advisory_xact_lock(1)`)
      yield* isFree.open
      assert.strictEqual((yield* Fiber.join(hanging))._tag, "Failure")
      assert.lengthOf(yield* sql`SELECT 1`, 1)
    })
  )

  it.effect("waits for a lock no longer than 10 seconds", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* (yield* SqlClient.SqlClient)`SHOW lock_timeout`, [{ lock_timeout: "10s" }])
    })
  )
})

const HELD_MS = 1_000

it.layer(sessions(50), { timeout: "60 seconds", excludeTestServices: true })("A session that migrates", (it) => {
  it.effect("waits as long as another node migrates", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const isMigrating = yield* Latch.make()
      const lock = Effect.andThen(
        sql`LOCK TABLE agent_tool_billing_migrations IN ACCESS EXCLUSIVE MODE`,
        isMigrating.open
      )
      const other = sql.withTransaction(Effect.andThen(lock, Effect.sleep(HELD_MS)))
      const first = yield* Effect.forkChild(other)
      yield* isMigrating.await
      assert.deepStrictEqual(yield* migrateSchema({}), [])
      yield* Fiber.join(first)
    })
  )
})
