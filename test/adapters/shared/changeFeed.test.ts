import { PgClient } from "@effect/sql-pg"
import { assert, inject, it } from "@effect/vitest"
import { Context, Effect, Exit, Layer, Queue, Redacted, References } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import * as PostgresChangeFeed from "../../../adapters/sql/shared/PostgresChangeFeed.ts"
import { type Change, ChangeFeed } from "../../../domain/shared/ChangeFeed.ts"
import { changeFeedContract, listenTo } from "../../../testing/contracts/shared/ChangeFeedContract.ts"
import { contractOverEveryStore } from "../../contracts/contractOverEveryStore.ts"
import { PostgresTest } from "../../support/servers/PostgresTest.ts"
import { aWay } from "../../support/servers/TcpProxy.ts"
import { connectedTo } from "../../support/servers/TestDatabases.ts"

contractOverEveryStore("ChangeFeed", changeFeedContract)

/** The feed of one more node on the test's database. */
const aNode = Effect.map(Layer.build(Layer.fresh(PostgresChangeFeed.layer)), Context.get(ChangeFeed))

/** From another database, so that the test's own can be closed. */
const asAdmin = (statement: (sql: SqlClient.SqlClient) => Effect.Effect<unknown, SqlError.SqlError>) =>
  Effect.flatMap(SqlClient.SqlClient, statement).pipe(connectedTo(Redacted.make(inject("testDatabases").adminUrl)))

const listeners = "datname = current_database() AND application_name = 'agent-tool-billing change feed'"

/** The first change that is not `everything`, and how many came before. */
const takeAfterEverything = Effect.fnUntraced(function* (heard: Queue.Dequeue<Change>) {
  for (let everything = 0; ; everything++) {
    const change = yield* Queue.take(heard)
    if (change.topic !== "everything") return { change, everything }
  }
})

/** On a busy machine; a quiet one takes some milliseconds. */
const HEARD_WITHIN = "20 seconds"

/** These tests lose connections on purpose: no warnings about them. */
const quietly = Layer.succeed(References.MinimumLogLevel, "Error")

it.layer(Layer.provideMerge(PostgresTest.layer, quietly), { timeout: "60 seconds", excludeTestServices: true })(
  "ChangeFeed over PostgreSQL alone",
  (it) => {
    it.effect("sends changes to the other nodes of a database soon, and to its own immediately", () =>
      Effect.gen(function* () {
        const [here, there] = [yield* aNode, yield* aNode]
        const [heardHere, heardThere] = [yield* listenTo(here), yield* listenTo(there)]
        yield* here.publish({ topic: "key", id: "k" })
        assert.deepStrictEqual(yield* Queue.takeAll(heardHere), [{ topic: "key", id: "k" }])
        const told = yield* Effect.timeout(Queue.take(heardThere), HEARD_WITHIN)
        assert.deepStrictEqual(told, { topic: "key", id: "k" })
      })
    )

    it.effect("sends `everything` when its connection is lost, and reconnects automatically", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const [here, there] = [yield* aNode, yield* aNode]
        const heard = yield* listenTo(there)
        for (let round = 0; round < 3; round++) {
          yield* sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${sql.literal(listeners)}`
          assert.deepStrictEqual(yield* Effect.timeout(Queue.take(heard), HEARD_WITHIN), {
            topic: "everything",
            id: ""
          })
          yield* untilListening(2)
          yield* here.publish({ topic: "catalog", id: `round ${round}` })
          const { change, everything } = yield* Effect.timeout(takeAfterEverything(heard), HEARD_WITHIN)
          assert.deepStrictEqual(change, { topic: "catalog", id: `round ${round}` })
          assert.isAtLeast(everything, 1, "once more when the connection is back")
        }
      })
    )

    it.effect("repeats it for as long as there is no connection", () =>
      Effect.gen(function* () {
        const { database } = yield* PostgresTest
        const heard = yield* listenTo(yield* aNode)
        const allowConnections = (allowed: boolean) =>
          asAdmin((sql) => sql`ALTER DATABASE ${sql(database)} ALLOW_CONNECTIONS ${sql.literal(String(allowed))}`)
        yield* allowConnections(false)
        yield* asAdmin((sql) => sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = ${database}`)
        for (let n = 0; n < 5; n++) {
          const told = yield* Effect.timeout(Queue.take(heard), HEARD_WITHIN)
          assert.deepStrictEqual(told, { topic: "everything", id: "" })
        }
        yield* allowConnections(true)
        yield* untilListening(1)
      })
    )

    it.effect(
      "detects a silent connection, and replaces it",
      () =>
        Effect.gen(function* () {
          const sql = yield* PgClient.PgClient
          const { hostname, port } = new URL(Redacted.value((yield* PostgresTest).url))
          const way = yield* aWay(hostname, Number(port))
          const throughIt = Object.assign(Object.create(sql), { config: { ...sql.config, ...way.address } })
          const node = yield* Effect.provideService(aNode, PgClient.PgClient, throughIt as PgClient.PgClient)
          const heard = yield* listenTo(node)
          way.freeze()
          assert.deepStrictEqual(yield* Effect.timeout(Queue.take(heard), "60 seconds"), {
            topic: "everything",
            id: ""
          })
          yield* untilListening(2)
          const other = yield* aNode
          yield* other.publish({ topic: "key", id: "k" })
          const { change } = yield* Effect.timeout(takeAfterEverything(heard), HEARD_WITHIN)
          assert.deepStrictEqual(change, { topic: "key", id: "k" })
        }),
      240_000
    )

    it.effect("fails to start without a connection", () =>
      Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        const nowhere = { ...sql, config: { host: "127.0.0.1", port: 1, username: "nobody" } }
        const built = Layer.build(Layer.fresh(PostgresChangeFeed.layer))
        const exit = yield* Effect.exit(Effect.provideService(built, PgClient.PgClient, nowhere as PgClient.PgClient))
        assert.isTrue(Exit.isFailure(exit))
      })
    )

    it.effect("ignores foreign messages on its channel", () =>
      Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        const node = yield* aNode
        const heard = yield* listenTo(node)
        for (const payload of ["", "{", "null", `{"node":"x","sequence":1,"change":{"topic":"no","id":""}}`]) {
          yield* sql.notify("agent_tool_billing_changes", payload)
        }
        yield* node.publish({ topic: "account", id: "a" })
        assert.deepStrictEqual(yield* Queue.take(heard), { topic: "account", id: "a" })
      })
    )
  }
)

const untilListening = Effect.fnUntraced(function* (nodes: number) {
  const sql = yield* SqlClient.SqlClient
  for (;;) {
    const rows = yield* sql`
      SELECT 1 FROM pg_stat_activity
      WHERE ${sql.literal(listeners)} AND query LIKE 'LISTEN%' AND state = 'idle'`
    if (rows.length >= nodes) return
    yield* Effect.sleep("20 millis")
  }
})
