/**
 * Rate limits that several nodes share through a real Redis.
 */
import { assert, it } from "@effect/vitest"
import { Context, Effect, Layer, Schedule } from "effect"
import { freePort } from "../../support/servers/FreePort.ts"
import { NO_REDIS, isRedisHere, redisServer, redisServerOn } from "../../support/servers/RedisServer.ts"
import { memoryConfig, wholeService } from "../../support/market/ServiceConfig.ts"
import { type Call, ServiceUnderTest } from "../../support/market/ServiceUnderTest.ts"

const CALL: Call = { path: "/api/market" }
let asked = 0
/** From another address each time, which has a limit of its own. */
const health = (): Call => ({ path: "/api/v1/health", from: `198.51.100.${++asked % 250}` })

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
  it.live(`a node counts alone within seconds while the Redis is ${way}, and the service can stop`, (ctx) =>
    Effect.gen(function* () {
      if (!isRedisHere()) return ctx.skip(NO_REDIS)
      const redis = yield* redisServer
      const { send } = yield* node({ RATE_LIMIT_IP_RPM: "1", REDIS_URL: redis.url })
      assert.strictEqual((yield* send(CALL)).status, 200)
      assert.strictEqual((yield* send(CALL)).status, 429)
      yield* redis.signal(end)
      const logs: Array<string> = []
      for (const status of [200, 429, 429]) {
        const answer = yield* Effect.timeoutOrElse(send(CALL), {
          duration: "10 seconds",
          orElse: () => Effect.die(new Error(`A request waits for a Redis that is ${way}`))
        })
        assert.strictEqual(answer.status, status)
        logs.push(answer.log)
      }
      assert.lengthOf(logs.join("\n").match(/Redis does not respond/gu) ?? [], 1, "it says so once")
      assert.include((yield* send(health())).text, "Redis does not respond: each node counts rate limits alone.")
    })
  )
}

it.live("a node that starts without its Redis counts alone, and uses it once it is available", (ctx) =>
  Effect.gen(function* () {
    if (!isRedisHere()) return ctx.skip(NO_REDIS)
    const port = yield* freePort
    const settings = { RATE_LIMIT_IP_RPM: "2", REDIS_URL: `redis://127.0.0.1:${port}` }
    const [one, other] = [yield* node(settings), yield* node(settings)]
    assert.deepStrictEqual(
      yield* Effect.forEach([one, one, one, other], ({ send }) => Effect.map(send(CALL), ({ status }) => status)),
      [200, 200, 429, 200]
    )
    const degraded = (text: string) => text.includes("Redis does not respond")
    assert.isTrue(degraded((yield* one.send(health())).text))
    yield* redisServerOn(port)
    yield* Effect.forEach([one, other], ({ send }) =>
      Effect.repeat(
        Effect.suspend(() => send(health())),
        {
          until: ({ status, text }) => status === 200 && !degraded(text),
          schedule: Schedule.spaced("100 millis")
        }
      ).pipe(Effect.timeout("60 seconds"))
    )
    const from = "203.0.113.9"
    const statuses = yield* Effect.forEach([one, other, one], ({ send }) =>
      Effect.map(send({ ...CALL, from }), ({ status }) => status)
    )
    assert.deepStrictEqual(statuses, [200, 200, 429], "together")
  })
)
