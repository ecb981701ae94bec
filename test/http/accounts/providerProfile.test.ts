/**
 * A provider moves its endpoint: the checks of registration, and what clients that listen there notice.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { json, result, scriptedServer } from "../../../testing/mcp/ScriptedServer.ts"
import { aProvider, at, expecting, listAt, textAt, valueAt } from "../../support/market/Market.ts"
import { fine } from "../../support/metering/Provider.ts"
import { memoryMarket, offerOf, problemOf } from "../../support/metering/Shop.ts"
import { LIVE, send } from "../../support/market/ServiceUnderTest.ts"

const PROFILE = "/api/v1/market/providers/profile"

const listing = (...names: ReadonlyArray<string>) =>
  scriptedServer({
    era: "modern",
    onCall: fine,
    onOther: (seen, response) => {
      if (seen.method !== "tools/list") return false
      const tools = names.map((name) => ({ name, inputSchema: { type: "object" } }))
      json(response, result(seen, { resultType: "complete", tools, ttlMs: 0, cacheScope: "public" }))
      return true
    }
  })

it.layer(memoryMarket(), LIVE)("A new endpoint", (it) => {
  it.effect("is not at an internal address", () =>
    Effect.gen(function* () {
      const provider = yield* aProvider()
      for (const url of ["http://10.0.0.1/mcp", "http://169.254.169.254/latest", "http://[fd00::1]/mcp"]) {
        const blocked = yield* send({
          path: PROFILE,
          key: provider.key,
          json: { endpoint_url: url, name: "Changed" }
        })
        assert.deepStrictEqual(problemOf(blocked), [422, "BLOCKED_ENDPOINT"], url)
      }
      const { json: kept } = yield* expecting(200, { path: PROFILE, key: provider.key })
      assert.deepInclude(kept, { endpoint_url: "http://127.0.0.1:1/mcp", name: "Weather Works" })
    })
  )

  it.effect("is asked what it is, and lists the provider's tools", () =>
    Effect.gen(function* () {
      const [first, other] = [yield* listing("echo", "add"), yield* listing("add", "subtract")]
      const provider = yield* aProvider({ endpoint_url: first.url })
      yield* offerOf(provider)
      const move = (more: object = {}) =>
        send({ path: PROFILE, key: provider.key, json: { endpoint_url: other.url, ...more } })
      const rejected = yield* move()
      assert.deepStrictEqual(problemOf(rejected), [422, "VALIDATION_ERROR"])
      const [fault] = listAt(rejected, "details")
      assert.deepStrictEqual(valueAt(fault, "path"), ["endpoint_url"])
      assert.include(String(valueAt(fault, "message")), "does not list a tool named `echo`")
      const moved = yield* move({ unlisted: true })
      assert.deepStrictEqual(
        [moved.status, at(moved, "endpoint", "reachable"), at(moved, "endpoint", "tools_found")],
        [200, true, 2]
      )
      assert.strictEqual(textAt(moved, "endpoint_url"), other.url)
    })
  )
})
