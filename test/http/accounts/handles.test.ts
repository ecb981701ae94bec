/**
 * Handles and qualified names over HTTP: at registration, in every place that shows a tool, in calls, and changed by
 * the operator.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import {
  at,
  CATALOG,
  expecting,
  faultPaths,
  listAt,
  listedTool,
  PROVIDERS,
  providerBody,
  putTools,
  textAt,
  unasked,
  valueAt
} from "../../support/market/Market.ts"
import { OPERATOR_KEY } from "../../support/checks/EndpointTable.ts"
import { fine, providing } from "../../support/metering/Provider.ts"
import { aFundedConsumer, anOffer, buy, memoryMarket, METER, problemOf, PROXY } from "../../support/metering/Shop.ts"
import { OWN_TOOLS } from "../../support/security/Paths.ts"
import { LIVE, send } from "../../support/market/ServiceUnderTest.ts"

const registered = (changes: object) => send({ path: PROVIDERS, json: providerBody({ ...changes }) })

const reassigned = (providerId: string, body: object, key = OPERATOR_KEY) =>
  send({ path: `/api/v1/operator/providers/${providerId}/handle`, key, json: body })

it.layer(memoryMarket({ OPERATOR_KEY }), LIVE)("Handles", (it) => {
  it.effect("are checked at registration, and shown with the tools' qualified names", () =>
    Effect.gen(function* () {
      for (const handle of ["ab", "Upper", "-dash", "dash-", "two--dashes", "under_score", "x".repeat(33), 7, null]) {
        const refused = yield* registered({ handle })
        assert.deepStrictEqual(problemOf(refused), [422, "VALIDATION_ERROR"], String(handle))
        assert.deepStrictEqual(faultPaths(refused), ["handle"])
      }
      const reserved = yield* registered({ handle: "operator" })
      assert.deepStrictEqual([reserved.status, faultPaths(reserved)], [422, ["handle"]])
      const answer = yield* registered({ handle: "chosen-one", tools: [{ tool_name: "echo" }] })
      assert.deepStrictEqual(
        [at(answer, "handle"), at(answer, "tools", 0, "qualified_name")],
        ["chosen-one", "chosen-one/echo"]
      )
      const taken = yield* registered({ handle: "chosen-one" })
      assert.deepStrictEqual(problemOf(taken), [409, "DUPLICATE"])
      assert.include(textAt(taken, "message"), "`chosen-one` is or was used by another provider")
      const who = yield* expecting(200, { path: "/api/v1/market/whoami", key: textAt(answer, "api_key") })
      assert.strictEqual(at(who, "handle"), "chosen-one")

      const provider = { id: textAt(answer, "provider_id"), key: textAt(answer, "api_key") }
      const put = yield* putTools(provider, { tool_name: "maps/route" })
      assert.strictEqual(at(put, "tools", 0, "qualified_name"), "chosen-one/maps/route")
      const listed = yield* listedTool(provider, "echo")
      assert.deepStrictEqual(
        [valueAt(listed, "qualified_name"), valueAt(listed, "provider", "handle")],
        ["chosen-one/echo", "chosen-one"]
      )
      const id = String(valueAt(listed, "id"))
      const details = yield* expecting(200, { path: unasked(`${OWN_TOOLS}/${id}`) })
      assert.strictEqual(at(details, "qualified_name"), "chosen-one/echo")
      const encoded = encodeURIComponent("chosen-one/maps/route")
      const byName = yield* expecting(200, { path: unasked(`${OWN_TOOLS}/${encoded}`) })
      assert.strictEqual(at(byName, "qualified_name"), "chosen-one/maps/route")
      const sla = yield* expecting(200, { path: unasked(`${OWN_TOOLS}/${encoded}/sla`) })
      assert.strictEqual(at(sla, "tool_id"), at(byName, "id"))
      assert.include((yield* expecting(200, { path: unasked(`/catalog/${encoded}`) })).text, "chosen-one/maps/route")
      for (const unknown of ["chosen-one%2Fnone", "nobody-here%2Fecho", "chosen-one", "none"]) {
        for (const path of [`${OWN_TOOLS}/${unknown}`, `${OWN_TOOLS}/${unknown}/sla`, `/catalog/${unknown}`]) {
          assert.strictEqual((yield* send({ path: unasked(path) })).status, 404, path)
        }
      }
      const prices = yield* expecting(200, { path: unasked("/api/v1/market/pricing?limit=100") })
      const line = listAt(prices, "pricing").find((one) => valueAt(one, "tool_id") === id)
      assert.deepStrictEqual(
        [valueAt(line, "qualified_name"), valueAt(line, "provider_handle")],
        ["chosen-one/echo", "chosen-one"]
      )
      for (const path of [`/catalog/${id}`, `/catalog?provider_id=${provider.id}`]) {
        assert.include((yield* expecting(200, { path: unasked(path) })).text, "chosen-one/echo")
      }
    })
  )

  it.effect("name a tool in calls, quotes and reports, also where the tool's name has slashes", () =>
    Effect.gen(function* () {
      const server = yield* providing(fine)
      const consumer = yield* aFundedConsumer()
      for (const toolName of ["plain", "with/slashes"]) {
        const offer = yield* anOffer(server.url, { tool_name: toolName })
        const qualified = String(valueAt(yield* listedTool(offer.provider, toolName), "qualified_name"))
        const named = { tool_id: undefined, tool_name: qualified }
        const called = yield* buy(consumer, offer, named)
        assert.deepStrictEqual([called.status, at(called, "meta", "tool_id")], [200, offer.toolId], called.text)
        const quote = yield* buy(consumer, offer, { ...named, dry_run: true })
        assert.strictEqual(at(quote, "quote", "qualified_name"), qualified, quote.text)
        for (const { key } of [consumer, offer.provider]) {
          const reported = yield* send({ path: METER, key, json: { tool_name: qualified, success: true } })
          assert.deepStrictEqual([reported.status, at(reported, "tool_id")], [201, offer.toolId], reported.text)
        }
        const ofProvider = yield* buy(consumer, offer, { ...named, provider_id: offer.provider.id })
        assert.strictEqual(ofProvider.status, 200, ofProvider.text)
        const other = yield* anOffer(server.url)
        const wrong = yield* buy(consumer, offer, { ...named, provider_id: other.provider.id })
        assert.deepStrictEqual(problemOf(wrong), [404, "NOT_FOUND"])
      }
      for (const unknown of ["no-such-provider/plain", "x/y", "/plain"]) {
        const refused = yield* send({ path: PROXY, key: consumer.key, json: { tool_name: unknown, input: {} } })
        assert.deepStrictEqual(problemOf(refused), [404, "NOT_FOUND"], unknown)
      }
    })
  )

  it.effect("are changed by the operator alone; the previous one still resolves unless it is retired", () =>
    Effect.gen(function* () {
      const server = yield* providing(fine)
      const offer = yield* anOffer(server.url, { tool_name: "moved" }, { handle: "before-it" })
      const consumer = yield* aFundedConsumer()
      const called = (handle: string) =>
        Effect.map(buy(consumer, offer, { tool_id: undefined, tool_name: `${handle}/moved` }), ({ status }) => status)
      assert.strictEqual(yield* called("before-it"), 200)
      const { id, key } = offer.provider
      assert.strictEqual((yield* reassigned(id, { handle: "after-it" }, key)).status, 403)
      const answer = yield* reassigned(id, { handle: "after-it" })
      assert.deepStrictEqual(answer.json, {
        provider_id: id,
        handle: "after-it",
        previous_handle: "before-it",
        previous_retired: false
      })
      assert.deepStrictEqual([yield* called("after-it"), yield* called("before-it")], [200, 200])
      const shown = yield* expecting(200, { path: unasked(`${CATALOG}?provider_id=${id}`) })
      assert.strictEqual(at(shown, "tools", 0, "qualified_name"), "after-it/moved")
      assert.strictEqual(
        at(yield* reassigned(id, { handle: "at-last", retire_previous: true }), "previous_retired"),
        true
      )
      let retired = yield* called("after-it")
      // Until the change reaches this node.
      while (retired === 200) {
        yield* Effect.sleep("10 millis")
        retired = yield* called("after-it")
      }
      assert.deepStrictEqual([retired, yield* called("at-last"), yield* called("before-it")], [404, 200, 200])
      assert.deepStrictEqual(problemOf(yield* registered({ handle: "after-it" })), [409, "DUPLICATE"])

      assert.deepStrictEqual(problemOf(yield* reassigned(id, { handle: "adm1n" })), [422, "VALIDATION_ERROR"])
      const other = yield* anOffer(server.url, {}, { handle: "somebody-else" })
      assert.deepStrictEqual(problemOf(yield* reassigned(id, { handle: "somebody-else" })), [409, "DUPLICATE"])
      const nobody = yield* reassigned(id.replace(/.{4}$/u, "0000"), { handle: "no-provider" })
      assert.deepStrictEqual(problemOf(nobody), [404, "NOT_FOUND"])
      const none = yield* expecting(200, { path: "/api/v1/operator/handles/imitations", key: OPERATOR_KEY })
      assert.deepStrictEqual(listAt(none, "imitations"), [])
      assert.isDefined(other)
    })
  )
})
