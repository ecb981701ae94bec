/**
 * Health over HTTP with the database stopped, silent, slow, and available again; and without its optional parts.
 */
import { assert, it } from "@effect/vitest"
import { Context, Duration, Effect, Layer, Schedule } from "effect"
import { DatabaseLink } from "../support/servers/DatabaseLink.ts"
import { aConsumer, at, expecting, KEYS } from "../support/market/Market.ts"
import { PostgresTest } from "../support/servers/PostgresTest.ts"
import { memoryConfig, postgresConfig, wholeService } from "../support/market/ServiceConfig.ts"
import { METRICS_TOKEN } from "../support/market/ServiceConfig.ts"
import { LIVE, send, ServiceUnderTest } from "../support/market/ServiceUnderTest.ts"
import type { Answer } from "../support/checks/Answer.ts"
import { isRedisHere, NO_REDIS, redisServer } from "../support/servers/RedisServer.ts"

const HEALTH = "/api/v1/health"
/** The time limit of one check. */
const LIMIT_MS = 2_000
/** An allowance for a busy machine. */
const SLACK_MS = 18_000
const NAMES = ["background", "database", "disk", "log", "rate_limits", "schema"]

const linkedService = ServiceUnderTest.over(
  Layer.unwrap(Effect.map(DatabaseLink, ({ url }) => wholeService(postgresConfig(url))))
).pipe(Layer.provideMerge(DatabaseLink.layer), Layer.provideMerge(PostgresTest.layerDatabase))

const checkOf = (answer: Answer, name: string) => at(answer, "checks", name, "status")

const untilReady = Effect.repeat(send({ path: "/readyz" }), {
  until: ({ status }) => status === 200,
  schedule: Schedule.spaced("50 millis")
}).pipe(
  Effect.andThen(
    Effect.repeat(send({ path: HEALTH }), {
      until: (answer) => at(answer, "status") === "ok",
      schedule: Schedule.spaced("50 millis")
    })
  ),
  Effect.timeoutOrElse({
    duration: "60 seconds",
    orElse: () => Effect.die(new Error("The service never came back"))
  })
)

const timed = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.timed(effect), ([duration, value]) => ({ value, ms: Duration.toMillis(duration) }))

it.layer(linkedService, LIVE)("the health of a service on PostgreSQL", (it) => {
  it.effect("is ok, part by part, and is never cached", () =>
    Effect.gen(function* () {
      yield* untilReady
      const answer = yield* expecting(200, { path: HEALTH })
      assert.strictEqual(at(answer, "status"), "ok")
      assert.deepStrictEqual(Object.keys(at(answer, "checks") as object).toSorted(), NAMES)
      for (const name of NAMES) assert.strictEqual(checkOf(answer, name), "ok", answer.text)
      assert.strictEqual(answer.headers["cache-control"], "no-store")
      for (const path of ["/livez", "/readyz"]) assert.strictEqual(at(yield* expecting(200, { path }), "status"), "ok")
      const status = yield* expecting(200, { path: "/api/v1/status" })
      assert.strictEqual(at(status, "status"), "ok")
    })
  )

  it.effect("is down while the database is stopped or silent, within the time limit, and ok when it is back", () =>
    Effect.gen(function* () {
      const link = yield* DatabaseLink
      const consumer = yield* aConsumer()
      for (const way of [link.cut, link.freeze]) {
        yield* way
        const { ms, value: sick } = yield* timed(send({ path: HEALTH }))
        assert.isBelow(ms, LIMIT_MS + SLACK_MS)
        assert.strictEqual(sick.status, 503, sick.text)
        assert.deepStrictEqual([at(sick, "status"), checkOf(sick, "database")], ["down", "down"])
        assert.strictEqual(checkOf(sick, "rate_limits"), "ok")
        assert.notMatch(sick.text, /SqlError|ECONN|127\.0\.0\.1|postgres:/u)
        // The response may be cached for a second.
        yield* Effect.sleep("1 second")
        assert.strictEqual((yield* send({ path: "/readyz" })).status, 503)
        assert.strictEqual((yield* expecting(200, { path: "/livez" })).status, 200)
        assert.strictEqual(at(yield* expecting(200, { path: "/api/v1/status" }), "status"), "down")
        const figures = yield* timed(expecting(200, { path: "/metrics", key: METRICS_TOKEN }))
        assert.isBelow(figures.ms, LIMIT_MS + SLACK_MS)
        assert.match(figures.value.text, /^atb_database_up 0$/mu)
        yield* link.restore
        yield* untilReady
        assert.match((yield* expecting(200, { path: "/metrics", key: METRICS_TOKEN })).text, /^atb_database_up 1$/mu)
        yield* expecting(200, { path: KEYS, key: consumer.key })
      }
    })
  )

  it.effect("is degraded, but not down, while the database is slow", () =>
    Effect.gen(function* () {
      const link = yield* DatabaseLink
      const slowed = Effect.gen(function* () {
        yield* untilReady
        yield* link.freeze
        yield* Effect.forkChild(Effect.andThen(Effect.sleep("1 second"), link.restore))
        return yield* send({ path: HEALTH })
      })
      // On a busy machine the sleep may end too early, or take longer than a check may.
      const slow = yield* Effect.repeat(slowed, { until: (answer) => at(answer, "status") === "degraded", times: 9 })
      assert.deepStrictEqual([at(slow, "status"), checkOf(slow, "database")], ["degraded", "degraded"], slow.text)
      assert.strictEqual(slow.status, 200)
      assert.isAtLeast(Number(at(slow, "checks", "database", "latency_ms")), 500)
      yield* untilReady
    })
  )

  it.effect("checks the database once for all load balancers", () =>
    Effect.gen(function* () {
      const link = yield* DatabaseLink
      yield* Effect.sleep("1 second")
      yield* link.freeze
      const { ms, value: answers } = yield* timed(
        Effect.all(
          Array.from({ length: 50 }, () => send({ path: "/readyz" })),
          { concurrency: "unbounded" }
        )
      )
      assert.isBelow(ms, LIMIT_MS + SLACK_MS)
      assert.isTrue(answers.every(({ status }) => status === 503))
      assert.strictEqual(answers.filter(({ log }) => log.includes("health check")).length, 1)
      yield* link.restore
      yield* untilReady
    })
  )
})

it.layer(ServiceUnderTest.memory({ RATE_LIMIT_IP_RPM: "3" }), LIVE)("machine probes", (it) => {
  it.effect("are never rate limited", () =>
    Effect.gen(function* () {
      for (let n = 0; n < 20; n++) {
        yield* expecting(200, { path: "/livez" })
        yield* expecting(200, { path: "/readyz" })
      }
      for (let n = 0; n < 3; n++) yield* expecting(200, { path: HEALTH })
      yield* expecting(429, { path: HEALTH })
      yield* expecting(200, { path: "/livez" })
      // Their keys are not looked up either: that work would have no limit.
      for (const method of ["GET", "HEAD"]) yield* expecting(200, { method, path: "/readyz", key: "no key at all" })
    })
  )
})

it.live("a service without its Redis is degraded, and continues", (ctx) =>
  Effect.gen(function* () {
    if (!isRedisHere()) return ctx.skip(NO_REDIS)
    const redis = yield* redisServer
    const layer = Layer.fresh(ServiceUnderTest.over(wholeService(memoryConfig({ REDIS_URL: redis.url }))))
    const service = Context.get(yield* Layer.build(layer), ServiceUnderTest)
    const healthOnce = (holds: (answer: Answer) => boolean) =>
      Effect.repeat(service.send({ path: HEALTH }), { until: holds, schedule: Schedule.spaced("50 millis") })
    // Any part may be degraded for a moment where a busy machine checks it slowly.
    yield* healthOnce((answer) => at(answer, "status") === "ok")
    yield* redis.signal("SIGKILL")
    const answer = yield* healthOnce((heard) => checkOf(heard, "rate_limits") === "degraded")
    assert.deepStrictEqual([answer.status, at(answer, "status")], [200, "degraded"])
    assert.strictEqual(checkOf(answer, "database"), "ok")
    assert.strictEqual((yield* service.send({ path: "/readyz" })).status, 200)
  })
)
