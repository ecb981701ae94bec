/**
 * A tool name that is not listed: the error suggests the nearest listed names.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { aConsumer, aProvider, at, expecting, listedTool, TOOLS, textAt, valueAt } from "../../support/market/Market.ts"
import { type Call, ServiceUnderTest, LIVE } from "../../support/market/ServiceUnderTest.ts"

const PROXY = "/api/market/proxy"

it.layer(ServiceUnderTest.memory(), LIVE)("a call of an unknown tool", (it) => {
  const saidTo = (call: Call) =>
    Effect.map(expecting(404, call), (answer) => {
      assert.strictEqual(at(answer, "code"), "NOT_FOUND")
      return textAt(answer, "message")
    })

  it.effect("is rejected with the nearest listed name", () =>
    Effect.gen(function* () {
      const provider = yield* aProvider({ tools: ["echo", "weather.forecast"].map((tool_name) => ({ tool_name })) })
      const consumer = yield* aConsumer()
      for (const [tool_name, nearest] of [
        ["ecko", "echo"],
        ["Echo", "echo"],
        ["weatherForecast", "weather.forecast"],
        ["weather.forcast", "weather.forecast"],
        ["weather", "weather.forecast"]
      ]) {
        for (const more of [{}, { dry_run: true }, { provider_id: provider.id }]) {
          const said = yield* saidTo({ path: PROXY, key: consumer.key, json: { tool_name, ...more } })
          assert.include(said, `There is no tool \`${tool_name}\`. Did you mean \`${nearest}\`?`)
        }
        const metered = yield* saidTo({ path: "/api/v1/market/meter", key: provider.key, json: { tool_name } })
        assert.include(metered, `Did you mean \`${nearest}\`?`)
      }
    })
  )

  it.effect(
    "suggests nothing without a similar name, nothing withdrawn, and for a named provider only its own tools",
    () =>
      Effect.gen(function* () {
        const [provider, other] = [
          yield* aProvider({ tools: [{ tool_name: "translate" }] }),
          yield* aProvider({ tools: [{ tool_name: "summarize" }] })
        ]
        const { key } = yield* aConsumer()
        const ask = (json: object) => saidTo({ path: PROXY, key, json })
        assert.notInclude(yield* ask({ tool_name: "qqqqqqqqqqqq" }), "Did you mean")
        assert.notInclude(yield* ask({ tool_name: "translat", provider_id: other.id }), "Did you mean")
        assert.include(yield* ask({ tool_name: "translat" }), "Did you mean `translate`?")
        const own = yield* expecting(200, { path: "/api/v1/market/tools", key: provider.key })
        yield* expecting(200, {
          method: "DELETE",
          path: `${TOOLS.replace("/api", "/api/v1")}/${textAt(own, "tools", 0, "id")}`,
          key: provider.key
        })
        assert.notInclude(yield* ask({ tool_name: "translat" }), "Did you mean")
      })
  )

  it.effect("is rejected with the nearest qualified name, where a qualified name was sent", () =>
    Effect.gen(function* () {
      const provider = yield* aProvider({ tools: [{ tool_name: "transcribe" }] })
      const { key } = yield* aConsumer()
      const listed = yield* listedTool(provider, "transcribe")
      const full = String(valueAt(listed, "qualified_name"))
      const [handle] = full.split("/")
      for (const tool_name of [`${handle}/transcribed`, `${handle}x/transcribe`]) {
        const guess = `There is no tool \`${tool_name}\`. Did you mean \`${full}\`?`
        for (const call of [
          { path: PROXY, key, json: { tool_name } },
          { path: `/api/v1/market/tools/${encodeURIComponent(tool_name)}` }
        ]) {
          assert.include(yield* saidTo(call), guess)
        }
      }
      assert.notInclude(yield* saidTo({ path: PROXY, key, json: { tool_name: "no-such-one/transcribe" } }), "Did you")
    })
  )

  it.effect("finds a similar name among many, in bounded work", () =>
    Effect.gen(function* () {
      const provider = yield* aProvider()
      for (let from = 0; from < 500; from += 50) {
        const tools = Array.from({ length: 50 }, (_, n) => ({
          tool_name: `many-${String(from + n).padStart(4, "0")}`
        }))
        yield* expecting(201, { path: TOOLS, key: provider.key, json: { tools } })
      }
      const { key } = yield* aConsumer()
      assert.include(
        yield* saidTo({ path: PROXY, key, json: { tool_name: "many-0250-x" } }),
        "Did you mean `many-0250`?"
      )
    })
  )
})
