/**
 * How often the counter asks the database, whatever calls leave meanwhile.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { ReceiptCounter } from "../../../adapters/sql/ledger/ReceiptCounter.ts"
import { LIVE, PostgresTest } from "../../support/servers/PostgresTest.ts"

it.layer(ReceiptCounter.layer.pipe(Layer.provideMerge(PostgresTest.layer)), LIVE)("Counting", (it) => {
  it.effect(
    "ends with the first part that is smaller than it could be, although more calls wait already",
    () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* sql`CREATE SEQUENCE asked`
        yield* sql`CREATE OR REPLACE FUNCTION count_receipts(p_rows int4) RETURNS int8 LANGUAGE sql AS
          'SELECT CASE WHEN nextval(''asked'') < 3 THEN p_rows ELSE 7 END'`
        assert.strictEqual(yield* (yield* ReceiptCounter).count, 50 + 50 + 7)
        const [asked] = yield* sql<{ readonly times: bigint }>`SELECT last_value AS times FROM asked`
        assert.strictEqual(asked!.times, 3n)
      }),
    30_000
  )
})
