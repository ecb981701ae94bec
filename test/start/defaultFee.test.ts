/**
 * A start with another default fee adds it to the history of fees, by which the audit judges receipts.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { MARKET_OWNER } from "../../domain/ledger/Transfer.ts"
import { PostgresTest } from "../support/servers/PostgresTest.ts"
import { finished, ready } from "../support/servers/ServiceProcess.ts"

it.layer(PostgresTest.layer, { timeout: "60 seconds", excludeTestServices: true })("The default fee", (it) => {
  it.effect(
    "is in the history once for each change",
    () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const settings = {
          DATABASE_URL: Redacted.value((yield* PostgresTest).url),
          RECEIPT_SIGNING_SECRET: "x".repeat(32),
          LOG_SIGNING_KEY: "0".repeat(64),
          PAYMENTS: "dry_run"
        }
        for (const basisPoints of [1_500, 1_500, 700]) {
          yield* Effect.scoped(ready({ ...settings, PLATFORM_FEE_BASIS_POINTS: String(basisPoints) }))
        }
        const rows = yield* sql<{ readonly fee_bps: number }>`
          SELECT fee_bps FROM provider_fees WHERE provider_id = ${MARKET_OWNER} ORDER BY revision`
        assert.deepStrictEqual(
          rows.map((row) => row.fee_bps),
          [1_500, 700]
        )
        assert.strictEqual((yield* finished(["audit"], { settings })).code, 0)
        yield* sql`DELETE FROM provider_fees WHERE provider_id = ${MARKET_OWNER} AND revision = 1`
        const audit = yield* finished(["audit"], { settings })
        assert.strictEqual(audit.code, 1)
        assert.include(audit.problem, "Entries are missing in the history of the fee of the service, the default one.")
      }),
    120_000
  )
})
