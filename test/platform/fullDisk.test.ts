/**
 * A full disk over HTTP: `/readyz` answers 503 and health states the cause, whether the free space is too small or the
 * database rejects writes.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { DISK_FREE_BYTES_MIN, DiskWatch, makeDiskWatch } from "../../domain/platform/Health.ts"
import { until } from "../support/servers/EmbeddedFolders.ts"
import { at, consumerBody, CONSUMERS, expecting, textAt } from "../support/market/Market.ts"
import { PostgresTest } from "../support/servers/PostgresTest.ts"
import { LIVE, send, ServiceUnderTest } from "../support/market/ServiceUnderTest.ts"
import { connectedTo } from "../support/servers/TestDatabases.ts"
import { memoryCore } from "../support/metering/Core.ts"

const HEALTH = "/api/v1/health"

/** The response is cached for a second. */
const readiness = (status: 200 | 503) =>
  until(
    `/readyz answers ${status}`,
    Effect.map(send({ path: "/readyz" }), (answer) => answer.status === status)
  )

const saysDown = Effect.fnUntraced(function* (why: RegExp) {
  yield* readiness(503)
  const health = yield* expecting(503, { path: HEALTH })
  assert.deepStrictEqual([at(health, "status"), at(health, "checks", "disk", "status")], ["down", "down"], health.text)
  assert.match(textAt(health, "checks", "disk", "message"), why)
  assert.strictEqual((yield* send({ path: "/livez" })).status, 200, "a restart would not help")
})

const saysWell = Effect.gen(function* () {
  yield* readiness(200)
  assert.strictEqual(at(yield* send({ path: HEALTH }), "checks", "disk", "status"), "ok")
})

let free = DISK_FREE_BYTES_MIN
const watched = memoryCore.pipe(Layer.provide(Layer.sync(DiskWatch, () => makeDiskWatch(Effect.sync(() => free)))))

it.layer(watched, LIVE)("too little free space", (it) => {
  it.effect("returns 503 with free and required space, until there is enough", () =>
    Effect.gen(function* () {
      yield* saysWell
      free = DISK_FREE_BYTES_MIN - 1
      yield* saysDown(/disk of DATA_DIR is full: 127 MiB are free and at least 128 MiB are required/u)
      free = DISK_FREE_BYTES_MIN
      yield* saysWell
    })
  )
})

const onDatabase = (statement: string) =>
  Effect.flatMap(PostgresTest, ({ url }) =>
    Effect.orDie(Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(statement)).pipe(connectedTo(url)))
  )

it.layer(ServiceUnderTest.postgres(), LIVE)("a database that rejects writes (SQLSTATE 53100)", (it) => {
  it.effect("returns 503 for the request, and then for readiness and health", () =>
    Effect.gen(function* () {
      yield* onDatabase(`CREATE FUNCTION disk_is_full() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$`)
      yield* saysWell
      yield* onDatabase("CREATE TRIGGER full_disk BEFORE INSERT ON consumers EXECUTE FUNCTION disk_is_full()")
      const refused = yield* expecting(503, { path: CONSUMERS, json: consumerBody() })
      assert.strictEqual(at(refused, "code"), "UNAVAILABLE", refused.text)
      assert.notInclude(refused.text, "No space left", "the inside is not shown")
      yield* saysDown(/rejects writes: its disk is full\. Free some space\./u)
      yield* onDatabase("DROP TRIGGER full_disk ON consumers")
      yield* expecting(201, { path: CONSUMERS, json: consumerBody() })
    })
  )
})
