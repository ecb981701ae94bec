/**
 * Connections that were opened while the server rejected writes, as on a standby: they are closed after the first
 * rejected write, so that the next one succeeds as soon as new connections accept it.
 */
import { assert, it } from "@effect/vitest"
import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { inject } from "vitest"
import * as LaneConnection from "../../../adapters/sql/shared/LaneConnection.ts"
import { storeSql } from "../../../adapters/sql/shared/StoreSql.ts"
import { client } from "../../../src/layers/Database.ts"
import { until } from "../../support/servers/EmbeddedFolders.ts"
import { LIVE, PostgresTest } from "../../support/servers/PostgresTest.ts"
import { connectedTo } from "../../support/servers/TestDatabases.ts"

const setReadOnly = (isOn: boolean) =>
  Effect.gen(function* () {
    const { database } = yield* PostgresTest
    yield* Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`ALTER DATABASE ${sql(database)} SET default_transaction_read_only = ${sql.literal(isOn ? "on" : "off")}`
    }).pipe(connectedTo(Redacted.make(inject("testDatabases").adminUrl)))
  })

it.layer(PostgresTest.layerDatabase, LIVE)("after a server became writable again", (it) => {
  it.effect("stores and calls write through new connections", () =>
    Effect.gen(function* () {
      const { url } = yield* PostgresTest
      yield* setReadOnly(true)
      yield* Effect.gen(function* () {
        const sql = yield* storeSql
        const { config } = yield* PgClient.PgClient
        const lane = yield* LaneConnection.make(() => config, "calls")
        const byStore = sql`CREATE TABLE IF NOT EXISTS written (n int)`
        const inTransaction = sql.withTransaction(byStore)
        const byCall = lane.query("CREATE TABLE IF NOT EXISTS written (n int)", [])
        assert.strictEqual((yield* Effect.flip(byStore))._tag, "StoreUnavailable")
        assert.strictEqual((yield* Effect.flip(inTransaction))._tag, "StoreUnavailable")
        assert.strictEqual((yield* Effect.flip(byCall))._tag, "SqlError")
        yield* setReadOnly(false)
        const succeeds = <A, E>(write: Effect.Effect<A, E>) =>
          until(
            "a write succeeds",
            write.pipe(
              Effect.as(true),
              Effect.orElseSucceed(() => false)
            )
          )
        yield* succeeds(byCall)
        yield* succeeds(byStore)
        yield* succeeds(inTransaction)
      }).pipe(Effect.provide(client({ url, connectionsMax: 3 })))
    })
  )
})
