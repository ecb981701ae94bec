/**
 * The service connects as a role that cannot change or delete rows of append-only tables, and needs no more than
 * that.
 */
import { PgClient } from "@effect/sql-pg"
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { APPEND_ONLY_TABLES, changeableTables, grantTo } from "../../../adapters/sql/shared/DatabaseCheck.ts"
import { LedgerStore } from "../../../domain/ledger/LedgerStore.ts"
import { postgresLedgerNode } from "../../contracts/ledgerPorts.ts"
import { aCall, consumerWith, settled } from "../../contracts/ledgerSamples.ts"
import { PostgresTest } from "../../support/servers/PostgresTest.ts"
import { asRole } from "../../support/servers/ServiceRoles.ts"
import { connectedTo } from "../../support/servers/TestDatabases.ts"

/** The database is migrated by its owner; the client is of the service's role. */
const serviceRole = PgClient.layerFrom(
  Effect.gen(function* () {
    const { url } = yield* PostgresTest
    return yield* PgClient.make({ url: yield* asRole(url, grantTo), maxConnections: 4 })
  }).pipe(Effect.orDie)
)

const ports = postgresLedgerNode.pipe(Layer.provideMerge(serviceRole), Layer.provideMerge(PostgresTest.layerDatabase))

it.layer(ports, { timeout: "60 seconds", excludeTestServices: true })("The service's role", (it) => {
  it.effect("is rejected by PostgreSQL when it changes or deletes rows of append-only tables", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* settled(yield* aCall(yield* consumerWith(1_000)))
      assert.deepStrictEqual(yield* changeableTables, [])
      for (const table of APPEND_ONLY_TABLES) {
        for (const statement of [
          `DELETE FROM ${table}`,
          `TRUNCATE ${table}`,
          `ALTER TABLE ${table} ADD COLUMN x int4`
        ]) {
          const error = yield* Effect.flip(sql.unsafe(statement))
          assert.strictEqual(error.reason._tag, "AuthorizationError", statement)
        }
      }
      for (const change of [
        "posted_transfers SET amount = amount + 1",
        "receipts SET cost = 0",
        "invoices SET total = 0"
      ]) {
        const error = yield* Effect.flip(sql.unsafe(`UPDATE ${change}`))
        assert.strictEqual(error.reason._tag, "AuthorizationError", change)
      }
    })
  )

  it.effect("loads, opens and closes calls, and audits them", () =>
    Effect.gen(function* () {
      const consumerId = yield* consumerWith(10_000)
      const calls = yield* Effect.forEach([1, 2, 3, 4], () => aCall(consumerId))
      yield* Effect.forEach(calls, (call) => settled(call), { concurrency: "unbounded" })
      assert.deepStrictEqual((yield* (yield* LedgerStore).audit).discrepancies, [])
    })
  )

  it.effect("is granted the same again by nodes that start together", () =>
    Effect.gen(function* () {
      const { url } = yield* PostgresTest
      const [row] = yield* (yield* SqlClient.SqlClient)<{ readonly role: string }>`SELECT current_user::text AS role`
      const grant = grantTo(row!.role).pipe(connectedTo(url))
      yield* Effect.all([grant, grant, grant], { concurrency: "unbounded" })
      assert.deepStrictEqual(yield* changeableTables, [])
    })
  )

  it.effect("is not the owner of the tables, whose rights are named", () =>
    Effect.gen(function* () {
      const { url } = yield* PostgresTest
      assert.deepStrictEqual(yield* changeableTables.pipe(connectedTo(url)), [...APPEND_ONLY_TABLES])
    })
  )
})
