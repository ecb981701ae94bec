/**
 * Providers with deliberately slow schemas: their own tools are rejected for a while, and no other provider's.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { monitorEventLoopDelay } from "node:perf_hooks"
import type { Answer } from "../support/Answer.ts"
import { aProvider, at, putTools, textAt, TOOLS as TOOLS_PATH } from "../support/Market.ts"
import { fine, forwarded, providing } from "../support/metering/Provider.ts"
import { aFundedConsumer, anOffer, buy, offerOf, PRICE, walletOf } from "../support/metering/Shop.ts"
import { LIVE, send, ServiceUnderTest } from "../support/ServiceUnderTest.ts"

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
const largeTools = (owner: string, first = 0) => Array.from({ length: 20 }, (_, n) => large(owner, first + n))

it.layer(ServiceUnderTest.memory({ ALLOW_UPSTREAM: "loopback", RATE_LIMIT_RPM: "0", RATE_LIMIT_IP_RPM: "0" }), LIVE)(
  "many tools with costly schemas",
  (it) => {
    it.effect("are registered by 4 providers at once without occupying the main thread", () =>
      Effect.gen(function* () {
        const providers = yield* Effect.forEach([1, 2, 3, 4], () => aProvider())
        const delays = monitorEventLoopDelay({ resolution: 1 })
        const before = process.threadCpuUsage()
        delays.enable()
        const answers = yield* Effect.all(
          providers.map(({ key }, n) => send({ path: TOOLS_PATH, key, json: { tools: largeTools(`p${n}`) } })),
          { concurrency: "unbounded" }
        )
        delays.disable()
        const { system, user } = process.threadCpuUsage(before)
        for (const answer of answers) assert.include([201, 429], answer.status, answer.text)
        // 80 compilations alone take several seconds.
        assert.isBelow((system + user) / 1_000, 2_500, `longest delay ${delays.max / 1e6} ms`)
        assert.isBelow(delays.max / 1e6, 1_000)
      })
    )

    it.effect("are rejected for a while once their provider's time is used up: other providers register tools", () =>
      Effect.gen(function* () {
        const [greedy, other] = [yield* aProvider(), yield* aProvider()]
        const put = (first: number) =>
          send({ path: TOOLS_PATH, key: greedy.key, json: { tools: largeTools("greedy", first) } })
        const isSpent = ({ status, text }: Answer) => status === 429 && text.includes("your account's")
        let answer = yield* put(0)
        for (let first = 20; !isSpent(answer); first += 20) answer = yield* put(first)
        assert.strictEqual(answer.status, 429, answer.text)
        assert.strictEqual(at(answer, "code"), "RATE_LIMITED")
        assert.isAtLeast(Number(answer.headers["retry-after"]), 1)
        assert.match(
          textAt(answer, "message"),
          /your account's schemas is used up.*Nothing was changed. Send the same request/u
        )
        const again = yield* send({ path: TOOLS_PATH, key: greedy.key, json: { tools: [large("greedy", 0)] } })
        assert.strictEqual(again.status, 201, "what was checked before is not checked again")
        yield* putTools(other, large("other", 0))
      })
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
        const refused = answers.filter(({ status }) => status === 503)
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
