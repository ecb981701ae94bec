/**
 * What only a Citus cluster has, on that of `CITUS_URL`. Every other suite runs on it unchanged: see docs/development.md.
 */
import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { checkDatabase, clusterProblemOf } from "../../adapters/sql/shared/DatabaseCheck.ts"
import { LedgerStore } from "../../domain/ledger/LedgerStore.ts"
import { postgresLedgerPorts } from "../contracts/ledgerPorts.ts"
import { aCall, atOnce, consumerWith, settled } from "../contracts/ledgerSamples.ts"
import { LIVE } from "../support/servers/PostgresTest.ts"

const CONSUMERS = 40

describe.skipIf(process.env["CITUS_URL"] === undefined)("A Citus cluster (CITUS_URL)", () => {
  it.layer(postgresLedgerPorts, LIVE)("with the tables of docs/citus.sql", (it) => {
    it.effect("has a lane of calls for each shard, on the worker of the shard", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { config } = yield* PgClient.PgClient
        assert.isDefined(config.url)
        yield* atOnce(CONSUMERS, () =>
          Effect.flatMap(
            Effect.flatMap(consumerWith(10_000), (id) => aCall(id)),
            settled
          )
        )
        const lanes = yield* sql<{ readonly shard: string }>`
          SELECT DISTINCT split_part(result, ' calls ', 2) AS shard FROM (
            SELECT json_array_elements_text(result::json) AS result FROM run_command_on_workers($$
              SELECT coalesce(json_agg(application_name), '[]') FROM pg_stat_activity
              WHERE datname = current_database() AND application_name LIKE '% calls %'$$)) lanes ORDER BY 1`
        const shards = yield* sql<{ readonly shard: string }>`
          SELECT DISTINCT get_shard_id_for_distribution_column('wallets', consumer_id)::text AS shard FROM wallets ORDER BY 1`
        assert.deepStrictEqual(lanes, shards)
        assert.deepStrictEqual((yield* (yield* LedgerStore).audit).discrepancies, [])
      })
    )

    it.effect("is accepted, and rejected with a table that Citus does not know", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* checkDatabase
        yield* sql`SET citus.use_citus_managed_tables = off`
        yield* sql`CREATE TABLE forgotten (id int PRIMARY KEY)`
        const { message } = yield* Effect.flip(checkDatabase)
        assert.match(message, /: Citus does not know the tables forgotten, /u)
      })
    )
  })
})

describe("A cluster", () => {
  const fit = {
    unmanaged: [],
    modify_mode: "sequential",
    max_prepared_transactions: 100,
    recover_2pc_seconds: 10,
    asynchronous: []
  }
  for (const [state, sentence] of [
    [{ unmanaged: ["loads"] }, /^Citus does not know the tables loads, .* run docs\/citus\.sql again\.$/u],
    [{ modify_mode: "parallel" }, /^citus\.multi_shard_modify_mode is parallel, .* run docs\/citus\.sql again\.$/u],
    [{ max_prepared_transactions: 0 }, /max_prepared_transactions = 0/u],
    [{ recover_2pc_seconds: 60 }, /every 60 s/u],
    [{ recover_2pc_seconds: -1 }, /never/u],
    [{ asynchronous: ["db1:5432"] }, /a standby of db1:5432 is asynchronous/u]
  ] as const) {
    it(`is rejected with ${JSON.stringify(state)}`, () => {
      assert.match(clusterProblemOf({ ...fit, ...state }) ?? "", sentence)
    })
  }

  it("is accepted", () => {
    assert.isUndefined(clusterProblemOf(fit))
  })
})
