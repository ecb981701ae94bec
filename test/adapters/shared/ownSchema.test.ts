/**
 * A schema of its own in a database whose other program has tables of the same names in `public`.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as NodeEntropy from "../../../adapters/crypto/NodeEntropy.ts"
import { Ledger } from "../../../domain/ledger/Ledger.ts"
import { CallStore } from "../../../domain/metering/CallStore.ts"
import { WaitlistStore } from "../../../domain/platform/Submissions.ts"
import { latestVersion } from "../../../migrations/index.ts"
import { postgresLedger, postgresStores } from "../../../src/layers/PostgresStores.ts"
import { LIVE, PostgresTest } from "../../support/servers/PostgresTest.ts"

const SCHEMA = "billing"

/** The host's own table, and one of an earlier market, both with names of ours. */
const hosted = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE public.waitlist RENAME TO earlier_waitlist`
  yield* sql`CREATE TABLE public.waitlist (mine text)`
  yield* sql`INSERT INTO public.waitlist VALUES ('the row of the host')`
  return sql
})

it.layer(PostgresTest.layer, LIVE)("stores in a schema of their own", (it) => {
  it.effect("leave the tables of the host alone, and are migrated in their schema", () =>
    Effect.gen(function* () {
      const sql = yield* hosted
      const { url } = yield* PostgresTest
      const database = { url, schema: SCHEMA, connectionsMax: 4 }
      yield* Effect.gen(function* () {
        yield* WaitlistStore
        yield* CallStore
        const own = yield* SqlClient.SqlClient
        yield* own`INSERT INTO waitlist (id, email, source, joined_at) VALUES (gen_random_uuid(), 'a@example.org', '', now())`
        const ledger = yield* Ledger
        assert.isTrue((yield* ledger.trialBalance).balanced)
      }).pipe(
        Effect.provide(
          Ledger.layer.pipe(Layer.provide(NodeEntropy.layer), Layer.provideMerge(postgresStores(database)))
        )
      )

      const versions = yield* sql<{ readonly version: number }>`
        SELECT max(migration_id) AS version FROM ${sql(SCHEMA)}.agent_tool_billing_migrations`
      assert.strictEqual(versions[0]!.version, latestVersion)
      assert.deepStrictEqual(yield* sql`SELECT email FROM ${sql(SCHEMA)}.waitlist`, [{ email: "a@example.org" }])
      assert.deepStrictEqual(yield* sql`SELECT mine FROM public.waitlist`, [{ mine: "the row of the host" }])

      // The ledger alone finds nothing left to do, and does not say which fee the service has.
      const written = sql`
        SELECT (SELECT count(*) FROM ${sql(SCHEMA)}.agent_tool_billing_migrations) AS migrations,
          (SELECT array_agg(fee_bps ORDER BY revision) FROM ${sql(SCHEMA)}.provider_fees) AS fees`
      yield* sql`UPDATE ${sql(SCHEMA)}.provider_fees SET fee_bps = 500`
      const before = yield* written
      yield* Effect.flatMap(Ledger, (ledger) => ledger.trialBalance).pipe(
        Effect.provide(
          Ledger.layer.pipe(Layer.provide(NodeEntropy.layer), Layer.provide(Layer.orDie(postgresLedger(database))))
        )
      )
      assert.deepStrictEqual(yield* written, before)

      for (const schema of ["", "my.app", 'the "billing" schema', "Billing", "b".repeat(64)]) {
        const rejected = yield* Effect.flip(Effect.scoped(Layer.build(postgresLedger({ ...database, schema }))))
        assert.include(rejected.message, "must be 1 to 63 lowercase letters")
      }
    })
  )
})
