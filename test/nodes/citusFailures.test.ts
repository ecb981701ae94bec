/**
 * The whole service on a Citus cluster, under calls, loads, payouts and disputes, while its servers fail and its shards move:
 * what was acknowledged is there, once, and the ledger is consistent. The cluster is that of CITUS_URL. Its servers are
 * killed and started by `$CITUS_NODES_COMMAND kill|start host:port`; CITUS_SPARE_NODE is one more server (`host:port`), with
 * Citus and outside of the cluster. What needs a setting that is missing is skipped.
 */
import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Redacted, Schedule } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { spawn } from "node:child_process"
import { inject } from "vitest"
import { type Acknowledged, callLoad } from "../support/load/CallLoad.ts"
import { echoProvider, type EchoProvider } from "../support/load/EchoProvider.ts"
import { booksAfter } from "../support/load/LoadAudit.ts"
import { loadMarket, type LoadMarket, OPEN_TO_LOAD, posted, walletOf } from "../support/load/LoadMarket.ts"
import { aDouble, deliveries, moneyLoad, paidLoad, settingsOf } from "../support/load/MoneyLoad.ts"
import { LIVE } from "../support/market/ServiceUnderTest.ts"
import { until } from "../support/servers/EmbeddedFolders.ts"
import { PostgresTest } from "../support/servers/PostgresTest.ts"
import { finished, json, post, ready } from "../support/servers/ServiceProcess.ts"
import { tcpBalancer } from "../support/servers/TcpBalancer.ts"
import { connectedTo } from "../support/servers/TestDatabases.ts"
import type { StripeDouble } from "../../testing/stripe/StripeDouble.ts"

const CONNECTIONS = 16
const BUYERS = 8
const NODES = 2
/** Eighty calls are worth a payout. */
const PRICE = 150_000
const LOAD_CENTS = 100_000
const LIMIT_MS = 300_000

const isCluster = process.env["CITUS_URL"] !== undefined
const nodesCommand = process.env["CITUS_NODES_COMMAND"]
const spareNode = process.env["CITUS_SPARE_NODE"]

/** Fails the test where the command fails. */
const control = (verb: "kill" | "start", node: string) =>
  Effect.callback<void>((resume) => {
    const child = spawn("sh", ["-c", `${nodesCommand} ${verb} ${node}`], { stdio: "inherit" })
    child.once("exit", (code) => resume(code === 0 ? Effect.void : Effect.die(new Error(`${verb} ${node}: ${code}`))))
  })

const sqlOn = Effect.fnUntraced(function* (node: string, database?: string) {
  const { url } = yield* PostgresTest
  const place = new URL(Redacted.value(url))
  place.host = node
  if (database !== undefined) place.pathname = database
  return connectedTo(Redacted.make(place.href))
})

/** On the coordinator, over a connection of its own: one from before may be dead. */
const onCoordinator = <A, E>(use: (sql: PgClient.PgClient) => Effect.Effect<A, E>) =>
  Effect.flatMap(PostgresTest, ({ url }) => Effect.flatMap(PgClient.PgClient, use).pipe(connectedTo(url)))

const nodesOf = onCoordinator((sql) =>
  Effect.map(
    sql<{ readonly node: string }>`
      SELECT nodename || ':' || nodeport AS node FROM pg_dist_node ORDER BY groupid = 0 DESC, nodeport`,
    (rows) => rows.map(({ node }) => node)
  )
)

class Market extends Context.Service<
  Market,
  LoadMarket & {
    readonly url: string
    readonly double: StripeDouble
    readonly provider: EchoProvider
    readonly acknowledged: Array<Acknowledged>
    readonly command: (name: string) => ReturnType<typeof finished>
  }
>()("agent-tool-billing/test/nodes/CitusMarket") {
  static readonly layer = Layer.effect(
    Market,
    Effect.gen(function* () {
      const { url: database } = yield* PostgresTest
      const double = yield* aDouble
      const balancer = yield* tcpBalancer
      const url = `http://127.0.0.1:${balancer.port}`
      const settings = {
        ...settingsOf(double),
        DATABASE_URL: Redacted.value(database),
        RECEIPT_SIGNING_SECRET: "the secret that all of these nodes share",
        LOG_SIGNING_KEY: "c1705".padEnd(64, "0")
      }
      const nodes = yield* Effect.replicateEffect(
        ready({ ...OPEN_TO_LOAD, ...settings, BASE_URL: url, LOG_LEVEL: "Warn" }),
        NODES
      )
      balancer.lead(nodes.map(({ port }) => port))
      yield* deliveries(double, url)
      const provider = yield* echoProvider
      provider.answerAfter(20)
      const market = yield* loadMarket(url, provider, { buyers: BUYERS, cents: 0, tool: { price_microcents: PRICE } })
      for (const [n, key] of market.buyers.entries()) {
        yield* paidLoad(double, { cents: LOAD_CENTS, key, name: `first-${n}`, url })
      }
      yield* until(
        "every consumer has its load",
        Effect.map(
          Effect.forEach(market.buyers, (key) => walletOf(url, key)),
          (wallets) => wallets.every(({ balance }) => balance === LOAD_CENTS * 10_000)
        )
      )
      yield* posted(`${url}/api/market/connect`, {}, market.providerKey)
      for (const account of double.state.accounts.values()) account.complete = true
      yield* json(`${url}/api/market/connect`, { headers: { authorization: `Bearer ${market.providerKey}` } })
      return Market.of({
        ...market,
        url,
        double,
        provider,
        acknowledged: [],
        command: (name) => finished([name], { settings })
      })
    })
  ).pipe(Layer.provideMerge(PostgresTest.layerDatabase))
}

/** What a failure can wait for while the load goes on. */
interface Flow {
  /** So many more calls are acknowledged. */
  readonly calls: (more: number) => Effect.Effect<void>
  readonly slowestMs: () => number
}

/** The load while `failure` runs, and the books afterwards: of all that was acknowledged since the first failure. */
const during = Effect.fnUntraced(function* <E, R>(name: string, failure: (flow: Flow) => Effect.Effect<void, E, R>) {
  const market = yield* Market
  const { acknowledged, command, double, provider, url } = market
  const load = yield* callLoad({ ...market, connections: CONNECTIONS })
  const { heard } = load
  const money = yield* moneyLoad(double, market, url, heard.acknowledged)
  const calls = (more: number) =>
    Effect.suspend(() => {
      const enough = heard.acknowledged.length + more
      return until(
        "calls are acknowledged",
        Effect.sync(() => heard.acknowledged.length >= enough)
      )
    })
  const startedMs = performance.now()
  yield* calls(10 * CONNECTIONS)
  yield* failure({ calls, slowestMs: () => heard.slowestMs })
  yield* calls(10 * CONNECTIONS)
  yield* load.stop
  yield* money.stop
  acknowledged.push(...heard.acknowledged)
  assert.deepStrictEqual([heard.unclean, money.moved.unclean], [[], []])

  yield* until(
    "every payment is credited",
    Effect.sync(() => double.webhooks.held.length === 0)
  )
  // The sweeper ends the calls whose closing found no server.
  yield* onCoordinator((sql) => sql`UPDATE calls_open SET deadline_at = now() - interval '1 second'`)
  yield* until(
    "no call is open",
    Effect.map(
      onCoordinator((sql) => sql`SELECT 1 FROM calls_open`),
      (open) => open.length === 0
    ).pipe(Effect.orDie)
  )
  const { url: database } = yield* PostgresTest
  const found = yield* booksAfter({ acknowledged, provider }).pipe(connectedTo(database))
  assert.deepStrictEqual([found.findings, found.open], [[], 0])
  const wallets = yield* Effect.forEach(market.buyers, (key) => walletOf(url, key))
  assert.deepStrictEqual(
    wallets.map(({ held }) => held),
    wallets.map(() => 0)
  )

  const [kept] = yield* onCoordinator(
    (sql) => sql<{ readonly loads: number; readonly cents: number; readonly payouts: number }>`
      SELECT (SELECT count(*)::int4 FROM loads WHERE state = 'paid') AS loads,
        (SELECT sum(amount_cents)::int4 FROM loads WHERE state = 'paid') AS cents,
        (SELECT coalesce(sum(amount_cents), 0)::int4 FROM payouts WHERE state = 'paid') AS payouts`
  )
  const sumOf = (amounts: Iterable<{ readonly amount: number }>) =>
    [...amounts].reduce((sum, { amount }) => sum + amount, 0)
  const { payments, transfers } = double.state
  assert.deepStrictEqual(kept, {
    loads: payments.size,
    cents: sumOf(payments.values()),
    payouts: sumOf(transfers.values())
  })
  const audit = yield* command("audit")
  assert.strictEqual(audit.code, 0, audit.output + audit.problem)
  yield* Effect.log(`${name}: ${Math.round((performance.now() - startedMs) / 1_000)} s`, {
    acknowledged: heard.acknowledged.length,
    statuses: Object.fromEntries(heard.statuses),
    lost: heard.lost,
    slowestMs: Math.round(heard.slowestMs),
    loads: money.moved.loads,
    refunds: money.moved.refunds,
    others: Object.fromEntries(money.moved.answers),
    payouts: double.state.transfers.size,
    receipts: found.receipts
  })
})

/** The shard of wallets with this consumer, and where it is. */
const shardOf = (consumer: string) =>
  Effect.map(
    onCoordinator(
      (sql) => sql<Shard>`
        SELECT shardid::text AS shard, nodename AS host, nodeport AS port FROM citus_shards
        WHERE table_name = 'wallets'::regclass
          AND shardid = get_shard_id_for_distribution_column('wallets', ${consumer}::uuid)`
    ),
    ([shard]) => shard!
  )

interface Shard {
  readonly shard: string
  readonly host: string
  readonly port: number
}

const aConsumer = Effect.map(
  onCoordinator((sql) => sql<{ readonly id: string }>`SELECT min(consumer_id::text) AS id FROM wallets`),
  ([row]) => row!.id
)

/** Until the maintenance daemon has ended what was prepared. */
const nothingPrepared = until(
  "no transaction is prepared",
  Effect.orDie(
    onCoordinator(
      (sql) => sql<{ readonly many: number }>`
        SELECT sum(result::int4)::int4 AS many FROM run_command_on_workers(
          'SELECT count(*) FROM pg_prepared_xacts WHERE database = current_database()')`
    )
  ).pipe(Effect.map(([row]) => row!.many === 0))
)

describe.skipIf(!isCluster)("The service on a Citus cluster (CITUS_URL)", () => {
  it.layer(Market.layer, { ...LIVE, timeout: "120 seconds" })("under calls, loads, payouts and disputes", (it) => {
    const withControl = it.effect.skipIf(nodesCommand === undefined)

    withControl(
      "loses nothing when a worker is killed and started again (CITUS_NODES_COMMAND)",
      () =>
        during("a worker killed", ({ calls }) =>
          Effect.gen(function* () {
            const [, worker] = yield* nodesOf
            yield* control("kill", worker!)
            yield* Effect.sleep("3 seconds")
            yield* control("start", worker!)
            yield* calls(10 * CONNECTIONS)
          })
        ),
      LIMIT_MS
    )

    withControl(
      "settles open calls when the coordinator is killed, and does the rest afterwards (CITUS_NODES_COMMAND)",
      () =>
        during("the coordinator killed", ({ calls }) =>
          Effect.gen(function* () {
            const { provider, url } = yield* Market
            const [coordinator] = yield* nodesOf
            provider.answerAfter(8_000)
            yield* Effect.sleep("1 second")
            yield* control("kill", coordinator!)
            // Their closings go to the workers.
            yield* calls(CONNECTIONS / 2)
            provider.answerAfter(20)
            const person = { name: "Late", email: "late@example.org" }
            const refused = yield* post(`${url}/api/market/register-consumer`, person)
            assert.strictEqual(refused.status, 503)
            yield* control("start", coordinator!)
            yield* post(`${url}/api/market/register-consumer`, person).pipe(
              Effect.repeat({ until: ({ status }) => status < 300, schedule: Schedule.spaced("100 millis") })
            )
          })
        ),
      LIMIT_MS
    )

    withControl(
      "keeps both sides of a load, or none, when the coordinator is killed between prepare and commit (CITUS_NODES_COMMAND)",
      () =>
        during("a crash between prepare and commit", () =>
          Effect.gen(function* () {
            const [coordinator, ...workers] = yield* nodesOf
            // A commit of the coordinator is written, and then waits for a standby that does not exist: what it prepared on
            // the workers stays prepared.
            yield* onCoordinator((sql) =>
              Effect.andThen(sql`ALTER SYSTEM SET synchronous_standby_names = 'nowhere'`, sql`SELECT pg_reload_conf()`)
            )
            const prepared = Effect.forEach(workers, (worker) =>
              Effect.flatMap(sqlOn(worker), (on) =>
                Effect.flatMap(
                  SqlClient.SqlClient,
                  (sql) => sql`SELECT 1 FROM pg_prepared_xacts WHERE database = current_database()`
                ).pipe(on, Effect.orDie)
              )
            )
            yield* until(
              "a transaction is prepared on a worker and not committed",
              Effect.map(prepared, (rows) => rows.flat().length > 0)
            )
            // The moment may be that of a transaction that goes on.
            yield* Effect.sleep("1 second")
            const many = (yield* prepared).flat().length
            assert.isAbove(many, 0)
            yield* control("kill", coordinator!)
            yield* control("start", coordinator!)
            yield* onCoordinator((sql) =>
              Effect.andThen(sql`ALTER SYSTEM RESET synchronous_standby_names`, sql`SELECT pg_reload_conf()`)
            )
            yield* nothingPrepared
            yield* Effect.log(`${many} transactions were prepared`)
          })
        ),
      LIMIT_MS
    )

    it.effect(
      "goes on while a shard is moved to another worker",
      () =>
        during("a shard moved", () =>
          Effect.gen(function* () {
            const shard = yield* shardOf(yield* aConsumer)
            const [, ...workers] = yield* nodesOf
            const other = workers.find((node) => node !== `${shard.host}:${shard.port}`)!
            const [host, port] = other.split(":")
            yield* onCoordinator(
              (
                sql
              ) => sql`SELECT citus_move_shard_placement(${BigInt(shard.shard)}::int8, ${shard.host}, ${shard.port}::int4,
                ${host!}, ${Number(port)}::int4, 'auto')`
            )
          })
        ),
      LIMIT_MS
    )

    it.effect(
      "goes on while a shard is split, and a consumer gets a shard of its own",
      () =>
        during("a shard split, and a consumer isolated", ({ calls }) =>
          Effect.gen(function* () {
            const consumer = yield* aConsumer
            const { shard } = yield* shardOf(consumer)
            yield* onCoordinator(
              (sql) => sql`
                SELECT citus_split_shard_by_split_points(s.shardid,
                  ARRAY[((s.shardminvalue::int8 + s.shardmaxvalue::int8) / 2)::text], ARRAY[n.nodeid, n.nodeid], 'block_writes')
                FROM pg_dist_shard s JOIN pg_dist_placement p USING (shardid) JOIN pg_dist_node n USING (groupid)
                WHERE s.shardid = ${BigInt(shard)}::int8`
            )
            yield* calls(10 * CONNECTIONS)
            yield* onCoordinator(
              (sql) => sql`SELECT isolate_tenant_to_new_shard('wallets', ${consumer}::uuid, 'CASCADE', 'block_writes')`
            )
          })
        ),
      LIMIT_MS
    )

    it.effect.skipIf(spareNode === undefined)(
      "goes on while a worker is added, the cluster rebalanced, and the worker drained (CITUS_SPARE_NODE)",
      () =>
        during("a worker added and drained", ({ calls }) =>
          Effect.gen(function* () {
            const { database } = yield* PostgresTest
            const [host, port] = spareNode!.split(":")
            const onSpare = yield* sqlOn(spareNode!, "postgres")
            const inSpare = yield* sqlOn(spareNode!)
            // A cluster knows its database by name: in a copy, by that of the template.
            const names = [database, inject("testDatabases").template]
            const onEach = (
              use: (sql: SqlClient.SqlClient, name: string) => Effect.Effect<unknown, SqlError.SqlError>
            ) =>
              Effect.flatMap(SqlClient.SqlClient, (sql) => Effect.forEach(names, (name) => use(sql, name))).pipe(
                onSpare
              )
            yield* Effect.addFinalizer(() =>
              Effect.orDie(onEach((sql, name) => sql`DROP DATABASE IF EXISTS ${sql(name)} WITH (FORCE)`))
            )
            yield* onEach((sql, name) => sql`CREATE DATABASE ${sql(name)} TEMPLATE template0`)
            yield* Effect.flatMap(SqlClient.SqlClient, (sql) => sql`CREATE EXTENSION citus`).pipe(inSpare)
            yield* onCoordinator((sql) => sql`SELECT citus_add_node(${host!}, ${Number(port)}::int4)`)
            yield* onCoordinator((sql) =>
              Effect.andThen(sql`SELECT citus_rebalance_start()`, sql`SELECT citus_rebalance_wait()`)
            )
            const [there] = yield* onCoordinator(
              (sql) => sql<{ readonly many: number }>`SELECT count(*)::int4 AS many FROM citus_shards
                WHERE table_name = 'wallets'::regclass AND nodeport = ${Number(port)}::int4`
            )
            assert.isAbove(there!.many, 0)
            yield* calls(10 * CONNECTIONS)
            yield* onCoordinator((sql) => sql`SELECT citus_drain_node(${host!}, ${Number(port)}::int4)`)
            yield* onCoordinator((sql) => sql`SELECT citus_remove_node(${host!}, ${Number(port)}::int4)`)
          })
        ),
      LIMIT_MS
    )

    it.effect("has a log that proves every receipt", () =>
      Effect.gen(function* () {
        const { command } = yield* Market
        yield* until(
          "every receipt is in the log",
          Effect.map(
            Effect.orDie(onCoordinator((sql) => sql`SELECT 1 FROM receipts_unlogged LIMIT 1`)),
            (rows) => rows.length === 0
          )
        )
        const check = yield* command("fsck")
        assert.strictEqual(check.code, 0, check.output + check.problem)
      })
    )
  })
})
