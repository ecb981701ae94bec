/**
 * What only a Citus cluster has, on that of `CITUS_URL`. Every other suite runs on it unchanged: see docs/development.md.
 */
import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { Migrator, SqlClient } from "effect/sql"
import { randomBytes } from "node:crypto"
import { readdirSync } from "node:fs"
import { inject } from "vitest"
import { checkDatabase, clusterProblemOf } from "../../adapters/sql/shared/DatabaseCheck.ts"
import { LedgerStore } from "../../domain/ledger/LedgerStore.ts"
import * as migrations from "../../migrations/index.ts"
import { postgresLedgerPorts } from "../contracts/ledgerPorts.ts"
import { aCall, atOnce, consumerWith, settled } from "../contracts/ledgerSamples.ts"
import { distribute, joinNodes } from "../support/servers/CitusCluster.ts"
import { until } from "../support/servers/EmbeddedFolders.ts"
import { LIVE } from "../support/servers/PostgresTest.ts"
import { connectedTo, createDatabase, dropDatabase, urlOf } from "../support/servers/TestDatabases.ts"

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

/** A database with all migrations but the newest, and then spread over the cluster. */
const ofTheReleaseBefore = Effect.gen(function* () {
  const databases = inject("testDatabases")
  const admin = connectedTo(urlOf(databases, new URL(databases.adminUrl).pathname.slice(1)))
  const name = `${databases.prefix}${randomBytes(8).toString("hex")}`
  yield* Effect.acquireRelease(createDatabase(name, "template0").pipe(admin), () =>
    dropDatabase(name).pipe(admin, Effect.orDie)
  )
  yield* joinNodes(name).pipe(admin)
  const url = urlOf(databases, name)
  const files = readdirSync(new URL("../../migrations", import.meta.url))
  const earlier: Record<string, Migration> = {}
  for (const each of migrations.names.slice(0, -1)) {
    const file = files.find((one) => one.startsWith(each.slice(0, 5)))!
    const module = yield* Effect.promise(
      () => import(`../../migrations/${file}`) as Promise<{ readonly default: Migration }>
    )
    earlier[each] = module.default
  }
  const migrate = Migrator.make({})({ table: "agent_tool_billing_migrations", loader: Migrator.fromRecord(earlier) })
  yield* Effect.andThen(migrate, distribute).pipe(connectedTo(url))
  return url
})

type Migration = Effect.Effect<unknown, unknown, SqlClient.SqlClient>

describe.skipIf(process.env["CITUS_URL"] === undefined)("A Citus cluster of the release before (CITUS_URL)", () => {
  it.live(
    "takes the newest migration while wallets change",
    () =>
      Effect.gen(function* () {
        const url = yield* ofTheReleaseBefore
        const onIt = connectedTo(url)
        yield* Effect.flatMap(
          SqlClient.SqlClient,
          (sql) => sql`INSERT INTO wallets (consumer_id) SELECT gen_random_uuid() FROM generate_series(1, ${CONSUMERS})`
        ).pipe(onIt)
        let changes = 0
        const changing = Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const wallets = yield* sql<{ readonly id: string }>`SELECT consumer_id AS id FROM wallets`
          const change = ({ id }: { readonly id: string }) =>
            Effect.tap(sql`UPDATE wallets SET credits = credits + 1 WHERE consumer_id = ${id}`, () =>
              Effect.sync(() => changes++)
            )
          return yield* Effect.forever(Effect.forEach(wallets, change))
        }).pipe(onIt)
        const load = yield* Effect.forkChild(Effect.all([changing, changing], { concurrency: "unbounded" }))
        const more = Effect.suspend(() => {
          const enough = changes + CONSUMERS
          return until(
            "wallets change",
            Effect.sync(() => changes >= enough)
          )
        })
        yield* more
        const applied = yield* migrations.run.pipe(onIt)
        assert.deepStrictEqual(
          applied.map(([id]) => id),
          [migrations.latestVersion]
        )
        yield* more
        assert.isUndefined(load.pollUnsafe(), "no change has failed")
        yield* Fiber.interrupt(load)
        yield* checkDatabase.pipe(onIt)
        const kept = yield* Effect.flatMap(
          SqlClient.SqlClient,
          (sql) => sql<{ readonly credits: bigint }>`SELECT sum(credits)::int8 AS credits FROM wallets`
        ).pipe(onIt)
        assert.isAtLeast(Number(kept[0]!.credits), changes)
      }),
    180_000
  )
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
