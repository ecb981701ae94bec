/**
 * POST /api/v1/init: updates a schema in any state; and who may call it.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as migrations from "../../migrations/index.ts"
import { aConsumer, aProvider, at, expecting, listAt } from "../support/market/Market.ts"
import { OPERATOR_KEY } from "../support/checks/EndpointTable.ts"
import { until } from "../support/servers/EmbeddedFolders.ts"
import { PostgresTest } from "../support/servers/PostgresTest.ts"
import { LIVE, send, ServiceUnderTest } from "../support/market/ServiceUnderTest.ts"
import type { Answer } from "../support/checks/Answer.ts"
import { connectedTo } from "../support/servers/TestDatabases.ts"

const INIT = "/api/v1/init"
const HEALTH = "/api/v1/health"

const onDatabase = <A, E>(work: Effect.Effect<A, E, SqlClient.SqlClient>) =>
  Effect.flatMap(PostgresTest, ({ url }) => work.pipe(connectedTo(url), Effect.orDie))

const emptySchema = onDatabase(
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`DROP SCHEMA public CASCADE`
    yield* sql`CREATE SCHEMA public`
  }).pipe(
    // The service's own jobs read at the same time: PostgreSQL may end one side of a deadlock.
    Effect.retry({ times: 10 })
  )
)

const isUpToDate = (answer: Answer): void => {
  assert.strictEqual(at(answer, "initialized"), true)
  assert.strictEqual(at(answer, "schema_version"), migrations.latestVersion)
  assert.includeMembers([...listAt(answer, "tables")], ["consumers", "providers", "tools", "waitlist", "submissions"])
}

it.layer(ServiceUnderTest.postgres(), LIVE)("init", (it) => {
  it.effect("changes nothing in a current schema", () =>
    Effect.gen(function* () {
      const answer = yield* expecting(200, { method: "POST", path: INIT })
      isUpToDate(answer)
      assert.deepStrictEqual(listAt(answer, "applied"), [])
      assert.strictEqual(answer.headers["cache-control"], "no-store")
    })
  )

  it.effect("creates an empty schema, and then changes nothing more", () =>
    Effect.gen(function* () {
      yield* emptySchema
      const sick = yield* expecting(200, { path: HEALTH })
      assert.deepStrictEqual([at(sick, "status"), at(sick, "checks", "schema", "status")], ["degraded", "degraded"])
      const first = yield* expecting(200, { method: "POST", path: INIT })
      isUpToDate(first)
      assert.deepStrictEqual(listAt(first, "applied"), migrations.names)
      const again = yield* expecting(200, { method: "POST", path: INIT })
      isUpToDate(again)
      assert.deepStrictEqual(listAt(again, "applied"), [])
      // A busy machine may check it slowly, which is a fault too.
      yield* until(
        "the schema is current",
        Effect.map(expecting(200, { path: HEALTH }), (well) => at(well, "checks", "schema", "status") === "ok")
      )
      yield* aConsumer()
      yield* aProvider({ tools: [{ tool_name: "one" }] })
    })
  )

  it.effect("runs each migration once under concurrent requests", () =>
    Effect.gen(function* () {
      yield* emptySchema
      const answers = yield* Effect.all(
        Array.from({ length: 4 }, () => send({ method: "POST", path: INIT })),
        { concurrency: "unbounded" }
      )
      const applied = answers.map((answer) => {
        assert.strictEqual(answer.status, 200, `${answer.text} ${answer.log}`)
        isUpToDate(answer)
        return listAt(answer, "applied").length
      })
      assert.deepStrictEqual(applied.filter((count) => count > 0).length, 1, String(applied))
    })
  )
})

it.layer(ServiceUnderTest.postgres({ OPERATOR_KEY }), LIVE)("init with an operator", (it) => {
  it.effect("requires the operator's key", () =>
    Effect.gen(function* () {
      const { key } = yield* aConsumer()
      const provider = yield* aProvider()
      yield* expecting(401, { method: "POST", path: INIT })
      yield* expecting(401, { method: "POST", path: INIT, key: `${OPERATOR_KEY}x` })
      for (const other of [key, provider.key]) yield* expecting(403, { method: "POST", path: INIT, key: other })
      yield* emptySchema
      assert.strictEqual(at(yield* expecting(200, { path: HEALTH }), "checks", "schema", "status"), "degraded")
      // Without a schema the operator's key still works: it comes from the configuration.
      isUpToDate(yield* expecting(200, { method: "POST", path: INIT, key: OPERATOR_KEY }))
    })
  )
})

it.layer(ServiceUnderTest.memory(), LIVE)("init in memory", (it) => {
  it.effect("has nothing to do", () =>
    Effect.gen(function* () {
      const { key } = yield* aConsumer()
      for (const call of [{}, { key }]) {
        const answer = yield* expecting(200, { method: "POST", path: INIT, ...call })
        assert.deepStrictEqual(
          [at(answer, "initialized"), at(answer, "applied"), at(answer, "schema_version"), at(answer, "tables")],
          [true, [], 0, []]
        )
      }
    })
  )
})
