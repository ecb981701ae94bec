/**
 * A provider with deliberately slow schemas: its own tools are rejected for a while, and no other provider's.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { at, listAt, putTools, textAt } from "../support/Market.ts"
import { fine, forwarded, providing } from "../support/metering/Provider.ts"
import { aFundedConsumer, anOffer, buy, offerOf, PRICE, walletOf } from "../support/metering/Shop.ts"
import { LIVE, ServiceUnderTest } from "../support/ServiceUnderTest.ts"

const TOOLS = 40
const TEXT = `${"a".repeat(60)}!`

const schemaOf = (pattern: string, n: number) => ({
  title: `${n}`,
  type: "object",
  properties: { text: { type: "string", pattern } }
})

const manyTools = (pattern: string) =>
  Array.from({ length: TOOLS }, (_, n) => ({
    tool_name: `tool_${n}`,
    price_microcents: PRICE,
    input_schema: schemaOf(pattern, n)
  }))

it.layer(ServiceUnderTest.memory({ ALLOW_UPSTREAM: "loopback", RATE_LIMIT_RPM: "0", RATE_LIMIT_IP_RPM: "0" }), LIVE)(
  "many tools with a hostile pattern",
  (it) => {
    it.effect("are checked like any other, where the pattern runs in linear time", () =>
      Effect.gen(function* () {
        const server = yield* providing(fine)
        const { provider } = yield* anOffer(server.url)
        const put = yield* putTools(provider, ...manyTools("^(a|a)*$"))
        const buyer = yield* aFundedConsumer(1_000)
        for (let n = 0; n < TOOLS; n++) {
          const offer = { toolId: textAt(put, "tools", n, "id") }
          const refused = yield* buy(buyer, offer, { input: { text: TEXT } })
          assert.strictEqual(refused.status, 422, refused.text)
          assert.include(JSON.stringify(listAt(refused, "details")), "must match pattern")
          const taken = yield* buy(buyer, offer, { input: { text: TEXT.slice(0, -1) } })
          assert.strictEqual(taken.status, 200, taken.text)
        }
        assert.strictEqual(forwarded(server), TOOLS)
      })
    )

    it.effect("exhaust the time of their provider where it does not: its calls are rejected, others continue", () =>
      Effect.gen(function* () {
        const server = yield* providing(fine)
        const hostile = yield* anOffer(server.url)
        const put = yield* putTools(hostile.provider, ...manyTools("^(?=(a|a)*$)"))
        const other = yield* offerOf((yield* anOffer(server.url)).provider, { input_schema: schemaOf("^[a-z]+$", 0) })
        const buyer = yield* aFundedConsumer(1_000)
        const before = yield* walletOf(buyer)
        const answers = yield* Effect.all(
          Array.from({ length: TOOLS }, (_, n) =>
            buy(buyer, { toolId: textAt(put, "tools", n, "id") }, { input: { text: TEXT } })
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
