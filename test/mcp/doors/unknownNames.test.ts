/**
 * Names that no tool has, at the doors: the error names the closest listed tools, and no others.
 */
import { assert, it } from "@effect/vitest"
import { Effect, type Schema } from "effect"
import { aConsumer, expecting, valueAt } from "../../support/market/Market.ts"
import { asked, modernCall, toolCalled } from "../../support/mcp/ModernClient.ts"
import { anOffer, memoryMarket, offerOf, qualifiedNameOf } from "../../support/metering/Shop.ts"
import { LIVE, send } from "../../support/market/ServiceUnderTest.ts"

const errorText = (answer: Schema.JsonObject): string => {
  assert.isTrue(answer["isError"], JSON.stringify(answer))
  return String(valueAt(answer, "content", 0, "text"))
}

/** Until the toolbox has reached the caches. */
const listed = Effect.fnUntraced(function* (key: string, alias: string) {
  while (!JSON.stringify(yield* asked({ key, method: "tools/list" })).includes(alias)) yield* Effect.sleep("10 millis")
})

it.layer(memoryMarket(), LIVE)("Unknown names at the doors", (it) => {
  it.effect("answers an unknown name with the closest names of listed tools", () =>
    Effect.gen(function* () {
      const consumer = yield* aConsumer()
      const offer = yield* anOffer("http://127.0.0.1:1/mcp", { tool_name: "find_papers" })
      const hidden = yield* offerOf(offer.provider, { tool_name: "find_pap" })
      yield* expecting(200, {
        method: "DELETE",
        path: `/api/v1/market/tools/${hidden.toolId}`,
        key: offer.provider.key
      })
      const full = yield* qualifiedNameOf(offer)
      const handle = full.slice(0, full.indexOf("/"))
      const unknown = (tool: string, args: object, path = "/mcp") =>
        Effect.map(
          send(modernCall({ path, key: consumer.key, method: "tools/call", params: { name: tool, arguments: args } })),
          (answer) => {
            assert.strictEqual(valueAt(answer.json, "error", "code"), -32602, answer.text)
            return [valueAt(answer.json, "error", "message"), valueAt(answer.json, "error", "data")]
          }
        )
      for (const tool of [`${handle}/find_paper`, `${handle}/findPapers`, `${handle}/find`, `${handle}x/find_papers`]) {
        assert.deepStrictEqual(yield* unknown("call_tool", { tool }), [
          `There is no tool \`${tool}\`. Did you mean \`${full}\`?`,
          { nearest: [full] }
        ])
        for (const own of ["describe_tool", "quote"]) {
          const said = errorText(yield* toolCalled(consumer.key, own, { tool }))
          assert.include(said, `Did you mean \`${full}\`? Send \`tool\` of a result of search_tools`)
        }
      }
      for (const tool of ["find_papers", `${handle}__find_paper`]) {
        const said = errorText(yield* toolCalled(consumer.key, "call_tool", { tool }))
        assert.include(said, `Did you mean \`${full}\`?`)
      }
      const alias = `${handle}__find_paper`
      const elsewhere = `There is no tool \`${alias}\`. Did you mean \`${full}\`? Call it with call_tool`
      assert.include(String((yield* unknown(alias, {}))[0]), elsewhere)
      yield* expecting(200, { path: "/api/market/toolbox", key: consumer.key, json: { tools: [offer.toolId] } })
      yield* listed(consumer.key, `${alias}s`)
      for (const [tool, nearest] of [
        [alias, `${alias}s`],
        ["search_tool", "search_tools"]
      ] as const) {
        assert.deepStrictEqual(yield* unknown(tool, {}), [
          `There is no tool \`${tool}\`. Did you mean \`${nearest}\`? Find tools with search_tools.`,
          { nearest: [nearest] }
        ])
      }
      const nothing = "There is no tool `qqqqqqqq`. Find tools with search_tools."
      assert.deepStrictEqual(yield* unknown("qqqqqqqq", {}), [nothing, undefined])
      assert.deepStrictEqual((yield* unknown("find_paper", {}, `/mcp/${handle}`))[1], { nearest: ["find_papers"] })
    })
  )

  it.effect("knows the alias of a tool of the toolbox before a client has listed it", () =>
    Effect.gen(function* () {
      const consumer = yield* aConsumer()
      const offer = yield* anOffer("http://127.0.0.1:1/mcp", { tool_name: "unlisted", free_tier_calls: 1 })
      yield* expecting(200, { path: "/api/market/toolbox", key: consumer.key, json: { tools: [offer.toolId] } })
      const alias = (yield* qualifiedNameOf(offer)).replace("/", "__")
      const answer = yield* send(
        modernCall({ key: consumer.key, method: "tools/call", params: { name: alias, arguments: {} } })
      )
      assert.isDefined(valueAt(answer.json, "result"), answer.text)
    })
  )
})
