/**
 * What a node without requests costs its database. Counted in transactions, because times differ between machines.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { PostgresTest } from "../support/servers/PostgresTest.ts"
import { ready } from "../support/servers/ServiceProcess.ts"
import { LIVE } from "../support/market/ServiceUnderTest.ts"
import { connectedTo } from "../support/servers/TestDatabases.ts"

/** PostgreSQL counts what an idle session did at most 10 seconds later: after this time, the start is counted. */
const SETTLING_MS = 12_000
const MEASURED_MS = 15_000
/** A node makes about 140. */
const PER_MINUTE_MAX = 240

const transactions = Effect.gen(function* () {
  const { url } = yield* PostgresTest
  const read = Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql<{ readonly count: bigint }>`
      SELECT xact_commit + xact_rollback AS count FROM pg_stat_database WHERE datname = current_database()`
  )
  return Number((yield* read.pipe(connectedTo(url)))[0]!.count)
})

it.layer(PostgresTest.layerDatabase, LIVE)("a node without requests", (it) => {
  it.effect(
    `makes at most ${PER_MINUTE_MAX} transactions a minute`,
    () =>
      Effect.gen(function* () {
        yield* ready({
          DATABASE_URL: Redacted.value((yield* PostgresTest).url),
          RECEIPT_SIGNING_SECRET: "a secret of the tests, 32 characters or more",
          LOG_SIGNING_KEY: "570c".repeat(16),
          PAYMENTS: "dry_run",
          LOG_LEVEL: "Warn"
        })
        yield* Effect.sleep(SETTLING_MS)
        const [before, startedAt] = [yield* transactions, performance.now()]
        yield* Effect.sleep(MEASURED_MS)
        const minutes = (performance.now() - startedAt) / 60_000
        const perMinute = ((yield* transactions) - before) / minutes
        yield* Effect.log({ perMinute: Math.round(perMinute) })
        assert.isBelow(perMinute, PER_MINUTE_MAX)
      }),
    120_000
  )
})
