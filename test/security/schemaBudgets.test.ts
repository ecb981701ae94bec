/**
 * Providers with deliberately slow schemas: their own tools are rejected for a while, and no other provider's.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Layer, Logger } from "effect"
import { JsonSchemas, SchemaBudgetSpent } from "../../domain/catalog/JsonSchemas.ts"
import { Fatal } from "../../src/layers/Process.ts"
import { serviceOf } from "../../src/layers/Service.ts"
import { longestTurnMs } from "../support/checks/EventLoop.ts"
import { aProvider, at, putTools, textAt, TOOLS as TOOLS_PATH } from "../support/market/Market.ts"
import { fine, forwarded, providing } from "../support/metering/Provider.ts"
import { aFundedConsumer, anOffer, buy, offerOf, PRICE, walletOf } from "../support/metering/Shop.ts"
import { memoryConfig } from "../support/market/ServiceConfig.ts"
import { LIVE, send, ServiceUnderTest } from "../support/market/ServiceUnderTest.ts"

const TOOLS = 40

const schemaOf = (pattern: string, n: number) => ({
  title: `${n}`,
  type: "object",
  properties: { text: { type: "string", pattern } }
})

/** Each level of an input is checked twice as often as the one above. */
const BRANCH = { properties: { n: { $ref: "#" } } }
const branching = (n: number) => ({ title: `${n}`, required: ["v"], anyOf: [BRANCH, BRANCH] })
const DEEP: unknown = JSON.parse(`${`{"v":1,"n":`.repeat(50)}{}${"}".repeat(50)}`)

const manyTools = (schema: (n: number) => object) =>
  Array.from({ length: TOOLS }, (_, n) => ({
    tool_name: `tool_${n}`,
    price_microcents: PRICE,
    input_schema: schema(n)
  }))

/** 47 KB, which take tens of milliseconds to compile. */
const large = (owner: string, n: number) => ({
  tool_name: `large_${n}`,
  input_schema: {
    title: `${owner} ${n}`,
    type: "object",
    properties: Object.fromEntries(
      Array.from({ length: 400 }, (_, i) => [
        `f${i}_${owner}_${n}`,
        { type: "string", description: "The value of this field of the request", minLength: 1, maxLength: 100 }
      ])
    )
  }
})

/** As if the account had used up its time. */
const SPENT = JsonSchemas.of({
  check: () => Effect.fail(new SchemaBudgetSpent({ of: "provider", waitMs: 1_500 })),
  unchecked: () => Effect.succeed([]),
  violations: () => Effect.succeed([])
})
const withoutTime = serviceOf(memoryConfig(), Layer.succeed(JsonSchemas, SPENT)).pipe(
  Layer.provide([Fatal.layer, Logger.layer([])]),
  Layer.orDie
)

it.layer(ServiceUnderTest.over(withoutTime), LIVE)("the schemas of an account whose time is used up", (it) => {
  it.effect("are answered with 429, when to come back, and what to do; tools without schemas are registered", () =>
    Effect.gen(function* () {
      const { key } = yield* aProvider()
      const put = (...tools: ReadonlyArray<object>) => send({ path: TOOLS_PATH, key, json: { tools } })
      const answer = yield* put({ tool_name: "plain" }, large("one", 0))
      assert.strictEqual(answer.status, 429, answer.text)
      assert.strictEqual(at(answer, "code"), "RATE_LIMITED")
      assert.strictEqual(answer.headers["retry-after"], "2")
      assert.match(
        textAt(answer, "message"),
        /your account's schemas is used up.*Nothing was changed. Send the same request/u
      )
      assert.strictEqual((yield* put({ tool_name: "plain" })).status, 201)
    })
  )
})

it.layer(ServiceUnderTest.memory({ ALLOW_UPSTREAM: "loopback", RATE_LIMIT_RPM: "0", RATE_LIMIT_IP_RPM: "0" }), LIVE)(
  "many tools with costly schemas",
  (it) => {
    it.effect("are registered by 4 providers at once without occupying the main thread", () =>
      Effect.gen(function* () {
        const providers = yield* Effect.forEach([1, 2, 3, 4], () => aProvider())
        const before = process.threadCpuUsage()
        const answers = yield* Effect.all(
          providers.map(({ key }, n) =>
            send({ path: TOOLS_PATH, key, json: { tools: Array.from({ length: 20 }, (_, i) => large(`p${n}`, i)) } })
          ),
          { concurrency: "unbounded" }
        )
        const { system, user } = process.threadCpuUsage(before)
        for (const answer of answers) assert.include([201, 429], answer.status, answer.text)
        // 80 compilations alone take several seconds.
        assert.isBelow((system + user) / 1_000, 2_500)
      })
    )

    it.effect("are read and stored in one turn of the event loop after the other, for 30 providers at once", () =>
      Effect.gen(function* () {
        const body = new TextEncoder().encode(
          JSON.stringify({ tools: Array.from({ length: 10 }, (_, i) => large("all", i)) })
        )
        const put = ({ key }: { readonly key: string }) => send({ method: "POST", path: TOOLS_PATH, key, body })
        // Judges the schemas, so that nothing of the others waits for the worker thread.
        assert.strictEqual((yield* put(yield* aProvider())).status, 201)
        const providers = yield* Effect.forEach(Array.from({ length: 30 }), () => aProvider())
        const longestMs = yield* longestTurnMs
        const answers = yield* Effect.all(providers.map(put), { concurrency: "unbounded" })
        for (const answer of answers) assert.strictEqual(answer.status, 201, answer.text)
        // One body takes less than 20 ms; all of them, most of a second.
        assert.isBelow(longestMs(), 400)
      }).pipe(Effect.scoped)
    )

    it.effect("are rejected one by one where a pattern does not run in linear time", () =>
      Effect.gen(function* () {
        const provider = yield* aProvider()
        const tools = [
          ...manyTools((n) => schemaOf("^(a|a)*$", n)),
          { tool_name: "fine", input_schema: schemaOf("^a*$", 0) }
        ]
        const answer = yield* send({ path: TOOLS_PATH, key: provider.key, json: { tools } })
        assert.strictEqual(at(answer, "registered"), 1)
        for (let n = 0; n < TOOLS; n++) {
          assert.match(
            textAt(answer, "tool_errors", n, "error"),
            /^input_schema .*the pattern "\^\(a\|a\)\*\$" .*linear time/u
          )
        }
      })
    )

    it.effect("exhaust the time of their provider where checks are slow: its calls are rejected, others continue", () =>
      Effect.gen(function* () {
        const server = yield* providing(fine)
        const hostile = yield* anOffer(server.url)
        const put = yield* putTools(hostile.provider, ...manyTools(branching))
        const other = yield* offerOf((yield* anOffer(server.url)).provider, { input_schema: schemaOf("^[a-z]+$", 0) })
        const buyer = yield* aFundedConsumer(1_000)
        const before = yield* walletOf(buyer)
        const answers = yield* Effect.all(
          Array.from({ length: TOOLS }, (_, n) =>
            buy(buyer, { toolId: textAt(put, "tools", n, "id") }, { input: DEEP })
          ),
          { concurrency: "unbounded" }
        )
        // On a busy machine some run out of the time of a request.
        const refused = answers.filter(({ status, text }) => status === 503 && !text.includes("in time"))
        assert.isNotEmpty(refused)
        for (const answer of refused) {
          assert.strictEqual(at(answer, "code"), "UNAVAILABLE")
          assert.include(textAt(answer, "message"), "The CPU budget for the schemas of this tool's provider")
          assert.isAtLeast(Number(answer.headers["retry-after"]), 1)
          assert.include(textAt(answer, "message"), "Nothing was charged")
        }
        for (const { status, text } of answers) assert.include([422, 503], status, text)
        assert.deepStrictEqual(yield* walletOf(buyer), before)
        assert.strictEqual(forwarded(server), 0)
        const elsewhere = yield* buy(buyer, other, { input: { text: "abc" } })
        assert.strictEqual(elsewhere.status, 200, elsewhere.text)
        const plain = yield* buy(buyer, hostile, { input: {} })
        assert.strictEqual(plain.status, 200, "its tools without such a pattern, too")
      })
    )
  }
)
