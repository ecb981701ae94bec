/**
 * A service with a real read replica, which is behind, silent or gone: what it answers, what the primary answers, and
 * what operators see of it.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { until } from "../support/servers/EmbeddedFolders.ts"
import { echoProvider } from "../support/load/EchoProvider.ts"
import { loadMarket, OPEN_TO_LOAD, posted } from "../support/load/LoadMarket.ts"
import { type ReplicaPair, replicaPair } from "../support/servers/ReplicaPair.ts"
import { finished, json, ready } from "../support/servers/ServiceProcess.ts"
import { temporaryPostgres } from "../support/servers/TemporaryPostgres.ts"
import { connectedTo } from "../support/servers/TestDatabases.ts"

const METRICS_TOKEN = "a token for the metrics of a read replica"
const LAG_MS_MAX = 2_000

const settingsFor = ({ standby, url }: ReplicaPair) => ({
  DATABASE_URL: Redacted.value(url),
  DATABASE_READ_URL: `${Redacted.value(standby.url)}?target_session_attrs=standby`,
  DATABASE_READ_LAG_MS_MAX: String(LAG_MS_MAX),
  RECEIPT_SIGNING_SECRET: "the secret of a service with a read replica",
  LOG_SIGNING_KEY: "4ead".repeat(16),
  METRICS_TOKEN,
  PAYMENTS: "dry_run"
})

const running = Effect.gen(function* () {
  const pair = yield* replicaPair({ isSynchronous: false })
  const node = yield* ready({ ...OPEN_TO_LOAD, ...settingsFor(pair), LOG_LEVEL: "Info" })
  const provider = yield* echoProvider
  const market = yield* loadMarket(node.url, provider, { buyers: 1 })

  const metric = (name: string) =>
    Effect.promise(async () => {
      const response = await fetch(`${node.url}/metrics`, { headers: { authorization: `Bearer ${METRICS_TOKEN}` } })
      const line = (await response.text()).split("\n").find((one) => one.startsWith(`${name} `))
      return Number(line?.slice(name.length))
    })
  const isInUse = (expected: boolean) =>
    until(
      `the replica is ${expected ? "" : "not "}in use`,
      Effect.map(metric("atb_read_replica_up"), (up) => up === Number(expected))
    )
  const readBy = Effect.all({
    replica: metric('atb_read_replica_reads_total{server="replica"}'),
    primary: metric('atb_read_replica_reads_total{server="primary"}')
  })
  // Each search is another one, so that no response comes from a cache.
  let searches = 0
  const search = Effect.gen(function* () {
    const found = yield* json(`${node.url}/api/market/catalog?max_price_microcents=${900_000_000 + ++searches}`)
    assert.strictEqual(found.status, 200, JSON.stringify(found.body))
    return (found.body["tools"] as ReadonlyArray<{ readonly tool_name: string }>).map((tool) => tool.tool_name)
  })
  const onStandby = (sql: string) =>
    Effect.flatMap(SqlClient.SqlClient, (client) => client.unsafe(sql)).pipe(connectedTo(pair.standby.url))
  const addTool = (name: string) =>
    posted(
      `${node.url}/api/market/tools`,
      { tools: [{ tool_name: name, price_microcents: 1, free_tier_calls: 0, unlisted: true }] },
      market.providerKey
    )
  return { addTool, isInUse, market, node, onStandby, pair, provider, readBy, search }
})

describe("a read replica", () => {
  it.live(
    "answers reads while it is within the limit, and the primary answers beyond it",
    () =>
      Effect.gen(function* () {
        const { addTool, isInUse, market, node, onStandby, pair, readBy, search } = yield* running
        yield* isInUse(true)
        const before = yield* readBy
        assert.include(yield* search, "echo")
        const headers = { authorization: `Bearer ${market.buyers[0]}` }
        assert.strictEqual((yield* json(`${node.url}/api/v1/market/usage/summary`, { headers })).status, 200)
        const after = yield* readBy
        assert.isAbove(after.replica, before.replica + 1)

        yield* onStandby("SELECT pg_wal_replay_pause()")
        yield* addTool("added_while_the_replica_is_behind")
        // A provider's own tools never come from a replica.
        const own = yield* json(`${node.url}/api/v1/market/tools`, {
          headers: { authorization: `Bearer ${market.providerKey}` }
        })
        assert.include(JSON.stringify(own.body), "added_while_the_replica_is_behind")
        yield* isInUse(false)
        assert.include(yield* search, "added_while_the_replica_is_behind")
        const health = yield* json(`${node.url}/api/v1/health`)
        assert.include(JSON.stringify(health.body["checks"]), `No read replica is within ${LAG_MS_MAX} ms`)
        const doctor = yield* finished(["doctor"], { settings: settingsFor(pair) })
        assert.match(doctor.output, /^warning +read_replicas +.*is more than 2000 ms behind/mu)

        yield* onStandby("SELECT pg_wal_replay_resume()")
        yield* isInUse(true)
        const again = yield* readBy
        assert.include(yield* search, "added_while_the_replica_is_behind")
        assert.isAbove((yield* readBy).replica, again.replica)
        const healthy = yield* json(`${node.url}/api/v1/health`)
        assert.match(JSON.stringify(healthy.body["checks"]), /is at most \d+ ms behind the primary/u)
      }),
    300_000
  )

  it.live(
    "that falls silent, returns and is killed costs no request",
    () =>
      Effect.gen(function* () {
        const { isInUse, pair, search } = yield* running
        yield* isInUse(true)
        assert.include(yield* search, "echo")
        yield* pair.signalStandby("SIGSTOP")
        assert.include(yield* search, "echo")
        yield* isInUse(false)
        yield* pair.signalStandby("SIGCONT")
        yield* isInUse(true)
        yield* pair.signalStandby("SIGKILL")
        assert.include(yield* search, "echo")
        yield* isInUse(false)
        assert.include(yield* search, "echo")
      }),
    300_000
  )

  it.live(
    "with other data is rejected at the start",
    () =>
      Effect.gen(function* () {
        const [own, stranger] = [yield* temporaryPostgres(), yield* temporaryPostgres()]
        const started = yield* finished(["serve"], {
          settings: {
            DATABASE_URL: Redacted.value(own.url),
            DATABASE_READ_URL: Redacted.value(stranger.url),
            RECEIPT_SIGNING_SECRET: "the secret of a service with a read replica",
            LOG_SIGNING_KEY: "4ead".repeat(16),
            PAYMENTS: "dry_run"
          }
        })
        assert.strictEqual(started.code, 1)
        assert.match(started.problem, /DATABASE_READ_URL cannot be used: .* is not a replica of the database/u)
      }),
    300_000
  )
})
