/**
 * Toolboxes over HTTP: list, add, replace and remove, for the account and for a key.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import {
  aConsumer,
  aProvider,
  at,
  expecting,
  KEYS,
  listAt,
  type Member,
  putTools,
  textAt,
  valueAt
} from "../../support/market/Market.ts"
import type { Answer } from "../../support/checks/Answer.ts"
import { memoryMarket } from "../../support/metering/Shop.ts"
import { LIVE } from "../../support/market/ServiceUnderTest.ts"

const TOOLBOX = "/api/market/toolbox"

const idsOf = (answer: Answer) => listAt(answer, "tools").map((tool) => String(valueAt(tool, "tool_id")))
const newIds = (answer: Answer) => listAt(answer, "tools").map((tool) => String(valueAt(tool, "id")))

/** Until the change has reached the caches. */
const listedAs = (key: string, source: string, ids: ReadonlyArray<string>, query = "") =>
  Effect.gen(function* () {
    for (;;) {
      const answer = yield* expecting(200, { path: `${TOOLBOX}${query}`, key })
      if (at(answer, "source") === source && idsOf(answer).join() === ids.join()) return answer
      yield* Effect.sleep("10 millis")
    }
  })

const change = (consumer: Member, method: string, json: object, status = 200) =>
  expecting(status, { method, path: TOOLBOX, key: consumer.key, json })

it.layer(memoryMarket({ TOOLBOX_TOOLS_MAX: "3" }), LIVE)("The toolbox", (it) => {
  it.effect("is listed, extended, replaced and reduced by ids and qualified names", () =>
    Effect.gen(function* () {
      const [consumer, provider] = [yield* aConsumer(), yield* aProvider()]
      const put = yield* putTools(
        provider,
        ...["a", "b", "c", "d"].map((tool_name) => ({ tool_name, price_microcents: 2_000 }))
      )
      const ids = newIds(put) as [string, string, string, string]
      const names = listAt(put, "tools").map((tool) => String(valueAt(tool, "qualified_name"))) as [
        string,
        string,
        string,
        string
      ]

      assert.deepInclude((yield* expecting(200, { path: TOOLBOX, key: consumer.key })).json, {
        source: "recent",
        key_id: null,
        tools: [],
        total: 0,
        tools_max: 3
      })
      const added = yield* change(consumer, "POST", { tools: [names[1], ids[0]] })
      assert.deepStrictEqual(added.json, {
        key_id: null,
        tools: [
          { tool_id: ids[1], qualified_name: names[1] },
          { tool_id: ids[0], qualified_name: names[0] }
        ],
        total: 2,
        tools_max: 3,
        message: "The toolbox of the account has 2 tools."
      })
      const listed = yield* listedAs(consumer.key, "account", [ids[1], ids[0]])
      assert.deepInclude(listAt(listed, "tools")[0], {
        alias: names[1].replace("/", "__"),
        tool_id: ids[1],
        tool_name: "b",
        qualified_name: names[1],
        price_microcents: 2_000,
        price: "$0.002",
        usage_priced: false,
        price_version: 1
      })

      const full = yield* change(consumer, "POST", { tools: [ids[2], ids[3]] }, 422)
      assert.include(textAt(full, "message"), "A toolbox has at most 3 tools.")
      yield* change(consumer, "PUT", { tools: [ids[3], names[2]] })
      yield* listedAs(consumer.key, "account", [ids[3], ids[2]])
      yield* expecting(200, { method: "DELETE", path: `/api/v1/market/toolbox/${ids[3]}`, key: consumer.key })
      yield* listedAs(consumer.key, "account", [ids[2]])
      yield* expecting(404, { method: "DELETE", path: `${TOOLBOX}/${ids[3]}`, key: consumer.key })
      yield* change(consumer, "PUT", { tools: [] })
      yield* listedAs(consumer.key, "recent", [])
    })
  )

  it.effect("of a key replaces that of the account, for this key", () =>
    Effect.gen(function* () {
      const [consumer, provider] = [yield* aConsumer(), yield* aProvider()]
      const put = yield* putTools(provider, { tool_name: "a" }, { tool_name: "b" })
      const [a, b] = newIds(put) as [string, string]
      const key = yield* expecting(201, { path: KEYS, key: consumer.key, json: {} })
      const keyId = textAt(key, "key", "key_id")
      yield* change(consumer, "POST", { tools: [a] })
      yield* listedAs(consumer.key, "account", [a], `?key_id=${keyId}`)
      yield* change(consumer, "POST", { tools: [b], key_id: keyId })
      yield* listedAs(consumer.key, "key", [b], `?key_id=${keyId}`)
      yield* listedAs(consumer.key, "account", [a])
      const rotated = yield* expecting(201, {
        path: `${KEYS}/rotate`,
        key: consumer.key,
        json: { key_id: keyId, grace_seconds: 60 }
      })
      yield* listedAs(consumer.key, "key", [b], `?key_id=${textAt(rotated, "key", "key_id")}`)
      yield* expecting(200, { method: "DELETE", path: `${KEYS}/${keyId}`, key: consumer.key })
      yield* expecting(404, { path: `${TOOLBOX}?key_id=${keyId}`, key: consumer.key })
      yield* change(consumer, "POST", { tools: [b], key_id: keyId }, 404)
    })
  )

  it.effect("takes no tool that does not exist or is withdrawn, and then changes nothing", () =>
    Effect.gen(function* () {
      const [consumer, provider] = [yield* aConsumer(), yield* aProvider()]
      const put = yield* putTools(provider, { tool_name: "a" }, { tool_name: "b" })
      const [a, b] = newIds(put) as [string, string]
      yield* expecting(200, { method: "DELETE", path: `/api/v1/market/tools/${b}`, key: provider.key })
      const handle = textAt(put, "tools", 0, "qualified_name").split("/")[0]!
      yield* change(consumer, "POST", { tools: [a, b] }, 410)
      const unknown = yield* change(consumer, "PUT", { tools: [a, `${handle}/c`] }, 404)
      assert.include(textAt(unknown, "message"), `There is no tool \`${handle}/c\`.`)
      yield* change(consumer, "POST", { tools: ["a"] }, 422)
      yield* listedAs(consumer.key, "recent", [])
    })
  )
})
