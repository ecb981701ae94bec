/**
 * What is read of a frozen provider agrees with what a call of its tools gets: nothing of it is offered, and its own pages
 * say so.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { OperatorKey } from "../../../domain/accounts/Authentication.ts"
import { json, result, scriptedServer, text } from "../../../testing/mcp/ScriptedServer.ts"
import { OPERATOR_KEY } from "../../support/checks/EndpointTable.ts"
import { at, CATALOG, expecting, listAt, type Member, unasked, valueAt } from "../../support/market/Market.ts"
import { asked } from "../../support/mcp/ModernClient.ts"
import { memoryCore } from "../../support/metering/Core.ts"
import { aFundedConsumer, anOffer, buy, problemOf, qualifiedNameOf } from "../../support/metering/Shop.ts"
import { LIVE } from "../../support/market/ServiceUnderTest.ts"

const NOT_FOR_SALE = "not for sale at present"
const WORD = "glacier"

/** Its server lists the tool, and answers each call. */
const selling = scriptedServer({
  era: "modern",
  onCall: (seen, response) => json(response, result(seen, text("fine"))),
  onOther: (seen, response) => {
    if (seen.method !== "tools/list") return false
    const tools = [{ name: WORD, inputSchema: { type: "object" } }]
    json(response, result(seen, { resultType: "complete", tools, ttlMs: 1_000, cacheScope: "public" }))
    return true
  }
})

const order = (id: string, verb: "freeze" | "unfreeze") =>
  expecting(200, { path: `/api/v1/operator/providers/${id}/${verb}`, json: { reason: "A check." }, key: OPERATOR_KEY })

const page = (path: string) => Effect.map(expecting(200, { path: unasked(path) }), (answer) => answer.text)

const service = memoryCore.pipe(Layer.provide(Layer.succeed(OperatorKey, Redacted.make(OPERATOR_KEY))))

it.layer(service, LIVE)("The tools of a frozen provider", (it) => {
  it.effect("are on no list but its own until it is unfrozen, and their pages say why", () =>
    Effect.gen(function* () {
      const { url } = yield* selling
      const offer = yield* anOffer(url, { tool_name: WORD, category: WORD })
      const { id, key } = offer.provider
      const qualified = yield* qualifiedNameOf(offer)
      const [handle] = qualified.split("/")
      const consumer = yield* aFundedConsumer()
      yield* expecting(200, { path: "/api/market/toolbox", key: consumer.key, json: { tools: [offer.toolId] } })

      const namesIn = (path: string, list: string, field: string) =>
        Effect.map(expecting(200, { path: unasked(path) }), (answer) =>
          listAt(answer, list).flatMap((one) => (valueAt(one, field) === offer.toolId ? [WORD] : []))
        )
      const offeredBy = (path: string) => Effect.map(namesOf(consumer, path), (names) => names.includes(WORD))
      const lists = Effect.gen(function* () {
        return {
          catalog: (yield* namesIn(`${CATALOG}?limit=100&provider_id=${id}`, "tools", "id")).length,
          search: (yield* namesIn(`${CATALOG}?q=${WORD}`, "tools", "id")).length,
          prices: (yield* namesIn("/api/v1/market/pricing?limit=100", "pricing", "tool_id")).length,
          category: (yield* page("/catalog")).split(`value="${WORD}"`).length - 1,
          catalogPage: (yield* page(`/catalog?q=${WORD}`)).split(`/catalog/${offer.toolId}`).length > 1 ? 1 : 0,
          providerPage: (yield* page(`/catalog/providers/${handle}`)).includes(offer.toolId) ? 1 : 0,
          providerDoor: (yield* offeredBy(`/mcp/${handle}`)) ? 1 : 0,
          // Its aliases begin with the name of the tool.
          marketDoor: (yield* namesOf(consumer, "/mcp")).some((one) => one.includes(WORD)) ? 1 : 0
        }
      })
      const everywhere = { catalog: 1, search: 1, prices: 1, category: 1, catalogPage: 1, providerPage: 1 }
      const doors = { providerDoor: 1, marketDoor: 1 }
      const nowhere = Object.fromEntries(Object.keys({ ...everywhere, ...doors }).map((list) => [list, 0]))
      const count = Effect.map(expecting(200, { path: unasked("/api/v1/market/stats") }), (answer) =>
        Number(at(answer, "tools_listed"))
      )
      assert.deepStrictEqual(yield* lists, { ...everywhere, ...doors })
      const before = yield* count

      yield* order(id, "freeze")
      assert.deepStrictEqual(problemOf(yield* buy(consumer, offer)), [410, "TOOL_WITHDRAWN"])
      assert.deepStrictEqual<unknown>(yield* lists, nowhere)
      assert.strictEqual(yield* count, before - 1)
      const tool = yield* expecting(200, { path: unasked(`/api/v1/market/tools/${offer.toolId}`) })
      const me = yield* expecting(200, { path: "/api/v1/market/whoami", key })
      assert.isString(at(me, "frozen_at"))
      assert.deepStrictEqual([at(tool, "state"), at(tool, "provider_frozen_at")], ["listed", at(me, "frozen_at")])
      for (const path of [`/catalog/${offer.toolId}`, `/catalog/providers/${handle}`]) {
        const shown = yield* page(path)
        assert.include(shown, NOT_FOR_SALE)
        assert.notInclude(shown, "connect-title")
      }
      for (const state of ["", "&state=listed"]) {
        const own = yield* expecting(200, { path: `/api/v1/market/tools?limit=100${state}`, key })
        assert.deepStrictEqual(
          listAt(own, "tools").map((one) => valueAt(one, "id")),
          [offer.toolId]
        )
      }

      yield* order(id, "unfreeze")
      assert.deepStrictEqual(yield* lists, { ...everywhere, ...doors })
      assert.strictEqual(yield* count, before)
      assert.strictEqual((yield* buy(consumer, offer)).status, 200)
      const again = yield* expecting(200, { path: unasked(`/api/v1/market/tools/${offer.toolId}`) })
      assert.isNull(at(again, "provider_frozen_at"))
      assert.isNull(at(yield* expecting(200, { path: "/api/v1/market/whoami", key }), "frozen_at"))
      assert.notInclude(yield* page(`/catalog/${offer.toolId}`), NOT_FOR_SALE)
    })
  )
})

const namesOf = (consumer: Member, path: string) =>
  Effect.map(asked({ path, key: consumer.key, method: "tools/list" }), (list) =>
    (list["tools"] as ReadonlyArray<{ readonly name: string }>).map((tool) => tool.name)
  )
