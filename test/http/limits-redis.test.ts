/**
 * Limits that several nodes count together, in a real Redis.
 */
import { assert, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { NO_REDIS, isRedisHere, redisServer } from "../support/RedisServer.ts"
import { memoryConfig, wholeService } from "../support/ServiceConfig.ts"
import { type Call, ServiceUnderTest } from "../support/ServiceUnderTest.ts"

const CALL: Call = { path: "/api/market" }

const node = (settings: Readonly<Record<string, string>>) =>
  Effect.map(Layer.build(Layer.fresh(ServiceUnderTest.over(wholeService(memoryConfig(settings))))), (context) =>
    Context.get(context, ServiceUnderTest)
  )

it.live("an address's limit holds over all nodes that share a Redis", (ctx) =>
  Effect.gen(function* () {
    if (!isRedisHere()) return ctx.skip(NO_REDIS)
    const { url } = yield* redisServer
    const settings = { RATE_LIMIT_IP_RPM: "10", REDIS_URL: url }
    const nodes = [yield* node(settings), yield* node(settings), yield* node(settings)]
    const answers = yield* Effect.all(
      Array.from({ length: 30 }, (_, n) => nodes[n % 3]!.send(CALL)),
      { concurrency: "unbounded" }
    )
    assert.lengthOf(
      answers.filter(({ status }) => status === 200),
      10
    )
    for (const { headers, status } of answers) {
      assert.strictEqual(headers["x-ratelimit-limit"], "10")
      if (status === 429) assert.isAbove(Number(headers["retry-after"]), 0)
    }
    const elsewhere = yield* node({ RATE_LIMIT_IP_RPM: "10" })
    assert.strictEqual((yield* elsewhere.send(CALL)).status, 200, "a node of its own counts by itself")
  })
)

for (const [way, end] of [
  ["away", "SIGKILL"],
  ["silent", "SIGSTOP"]
] as const) {
  it.live(`requests pass, and soon, while the Redis is ${way}, and the service ends`, (ctx) =>
    Effect.gen(function* () {
      if (!isRedisHere()) return ctx.skip(NO_REDIS)
      const redis = yield* redisServer
      const { send } = yield* node({ RATE_LIMIT_IP_RPM: "1", REDIS_URL: redis.url })
      assert.strictEqual((yield* send(CALL)).status, 200)
      assert.strictEqual((yield* send(CALL)).status, 429)
      yield* redis.signal(end)
      for (let n = 0; n < 3; n++) {
        const answer = yield* Effect.timeoutOrElse(send(CALL), {
          duration: "10 seconds",
          orElse: () => Effect.die(new Error(`A request waits for a Redis that is ${way}`))
        })
        assert.strictEqual(answer.status, 200)
        assert.include(answer.log, "rate limiter")
      }
    })
  )
}

it.live("a service whose Redis is not there at its start does not start", () =>
  Effect.gen(function* () {
    const exit = yield* Effect.exit(node({ RATE_LIMIT_IP_RPM: "1", REDIS_URL: "redis://127.0.0.1:1" }))
    assert.strictEqual(exit._tag, "Failure")
  })
)
