/**
 * Imports from real MCP servers of both eras over HTTP: what a provider sees, and what its server cannot do.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { json, result, scriptedServer } from "../../../testing/mcp/ScriptedServer.ts"
import { type Listing, sdk1Server, sdk2Server } from "../../support/mcp/servers/RealServers.ts"
import {
  aConsumer,
  aProvider,
  at,
  CATALOG,
  expecting,
  listAt,
  listedTool,
  type Member,
  namesOf,
  PROVIDERS,
  providerBody,
  textAt,
  TOOLS,
  unasked,
  valueAt
} from "../../support/market/Market.ts"
import { LIVE, ServiceUnderTest } from "../../support/market/ServiceUnderTest.ts"

const IMPORT = "/api/v1/market/tools/import"
const SYNC = "/api/v1/market/tools/sync"
const OWN = "/api/v1/market/tools"

const tool = (name: string, more: Readonly<Record<string, unknown>> = {}) => ({
  name,
  description: `Does ${name}`,
  inputSchema: { type: "object" as const },
  ...more
})

/** Lists in pages, and can be changed. */
const aListing = (...tools: ReadonlyArray<ReturnType<typeof tool>>) => {
  const state = { tools, pageSize: 1_000 }
  const list: Listing = (cursor) => {
    const from = Number(cursor ?? "0")
    const next = from + state.pageSize
    return {
      tools: state.tools.slice(from, next),
      ...(next < state.tools.length ? { nextCursor: String(next) } : {})
    }
  }
  return { state, list }
}

const servers = {
  modern: (list: Listing) => sdk2Server({ legacy: "reject", list }),
  legacy: (list: Listing) => sdk1Server({ stateful: true, list })
} as const

const importing = (provider: Member, body: Readonly<Record<string, unknown>> = {}, status = 200) =>
  expecting(status, { path: IMPORT, key: provider.key, json: { default_price_microcents: 500, ...body } })

const actionsOf = (answer: Parameters<typeof listAt>[0]) =>
  listAt(answer, "tools").map((one) => [valueAt(one, "tool_name"), valueAt(one, "action")])

const catalogOf = (provider: Member) =>
  Effect.map(expecting(200, { path: unasked(`${CATALOG}?limit=100&provider_id=${provider.id}`) }), (answer) =>
    namesOf(listAt(answer, "tools"))
  )

it.layer(ServiceUnderTest.memory(), LIVE)("Imports", (it) => {
  for (const era of ["modern", "legacy"] as const) {
    it.effect(`previews, imports and follows a ${era} server`, () =>
      Effect.gen(function* () {
        const { list, state } = aListing(
          tool("echo", { title: "Echo", annotations: { readOnlyHint: true, openWorldHint: false } }),
          tool("slow")
        )
        const { url } = yield* servers[era](list)
        const registered = yield* expecting(201, { path: PROVIDERS, json: providerBody({ endpoint_url: url }) })
        assert.deepInclude(at(registered, "endpoint"), { reachable: true, era, tools_found: 2, problem: null })
        const provider = { id: textAt(registered, "provider_id"), key: textAt(registered, "api_key") }

        const preview = yield* importing(provider, { listed: true })
        assert.isFalse(at(preview, "applied"))
        assert.deepStrictEqual(actionsOf(preview), [
          ["echo", "list"],
          ["slow", "list"]
        ])
        assert.deepStrictEqual(yield* catalogOf(provider), [])

        const overrides = [{ tool_name: "slow", price_microcents: 2_000 }]
        const done = yield* importing(provider, { listed: true, overrides, apply: true })
        assert.isTrue(at(done, "applied"))
        const echo = yield* listedTool(provider, "echo")
        assert.deepStrictEqual(
          [valueAt(echo, "display_name"), valueAt(echo, "annotations"), valueAt(echo, "pricing", "price_microcents")],
          ["Echo", { read_only_hint: true, open_world_hint: false }, 500]
        )
        assert.strictEqual(valueAt(yield* listedTool(provider, "slow"), "pricing", "price_microcents"), 2_000)

        const consumer = yield* aConsumer()
        yield* expecting(200, { path: "/api/market/balance/load", key: consumer.key, json: { amount_cents: 100 } })
        const called = yield* expecting(200, {
          path: "/api/market/proxy",
          key: consumer.key,
          json: { tool_id: valueAt(echo, "id"), input: { a: 1 } }
        })
        assert.strictEqual(at(called, "meta", "cost_microcents"), 500)

        state.tools = [tool("echo", { title: "Echo", description: "Changed words" }), tool("news")]
        const changed = yield* importing(provider, { apply: true })
        assert.deepStrictEqual(actionsOf(changed), [
          ["news", "draft"],
          ["echo", "change"]
        ])
        assert.deepStrictEqual(valueAt(listAt(changed, "tools")[1], "changed"), ["description", "annotations"])
        assert.deepStrictEqual(namesOf(listAt(changed, "missing")), ["slow"])
        assert.deepStrictEqual(yield* catalogOf(provider), ["echo", "slow"])
        const drafts = yield* expecting(200, { path: `${OWN}?state=draft`, key: provider.key })
        assert.deepStrictEqual(namesOf(listAt(drafts, "tools")), ["news"])
        const draft = `${OWN}/${String(valueAt(listAt(drafts, "tools")[0], "id"))}`
        yield* expecting(404, { path: unasked(draft) })
        const versions = yield* expecting(200, { path: unasked(`${OWN}/${String(valueAt(echo, "id"))}/versions`) })
        assert.deepStrictEqual(
          listAt(versions, "versions").map((one) => [valueAt(one, "version"), valueAt(one, "description")]),
          [
            [2, "Changed words"],
            [1, "Does echo"]
          ]
        )
        const sync = yield* expecting(200, { path: SYNC, key: provider.key })
        assert.deepInclude(at(sync), { enabled: true, listed: false, default_price_microcents: 500, problem: null })
        assert.lengthOf(listAt(sync, "history"), 2)

        yield* expecting(201, { path: TOOLS, key: provider.key, json: { tools: [{ tool_name: "news" }] } })
        assert.deepStrictEqual(yield* catalogOf(provider), ["echo", "news", "slow"])
      })
    )

    it.effect(`keeps a dismissed draft of a ${era} server away until the server changes the tool`, () =>
      Effect.gen(function* () {
        const { list, state } = aListing(tool("news"), tool("echo"))
        const { url } = yield* servers[era](list)
        const provider = yield* aProvider({ endpoint_url: url })
        const other = yield* aProvider({ endpoint_url: url })
        const drafts = Effect.map(expecting(200, { path: `${OWN}?state=draft`, key: provider.key }), (answer) =>
          listAt(answer, "tools")
        )
        yield* importing(provider, { apply: true })
        const news = (yield* drafts).find((one) => valueAt(one, "tool_name") === "news")
        const path = `${OWN}/${String(valueAt(news, "id"))}`
        yield* expecting(404, { path, method: "DELETE", key: other.key })
        const gone = yield* expecting(200, { path, method: "DELETE", key: provider.key })
        assert.match(textAt(gone, "message"), /news is dismissed/u)
        yield* expecting(404, { path, method: "DELETE", key: provider.key })
        for (const listed of [false, true]) {
          const again = yield* importing(provider, { apply: true, listed })
          assert.deepStrictEqual(at(again, "dismissed"), ["news"])
          assert.notInclude(
            actionsOf(again).map(([name]) => name),
            "news"
          )
        }
        assert.deepStrictEqual(yield* catalogOf(provider), ["echo"])
        state.tools = [tool("news", { description: "Other words" }), tool("echo")]
        const changed = yield* importing(provider, { apply: true })
        assert.deepStrictEqual([actionsOf(changed), at(changed, "dismissed")], [[["news", "draft"]], []])
        const back = `${OWN}/${String(valueAt((yield* drafts)[0], "id"))}`
        yield* expecting(200, { path: back, method: "DELETE", key: provider.key })

        state.tools = [tool("echo")]
        yield* importing(provider, { apply: true })
        state.tools = [tool("news", { description: "Other words" }), tool("echo")]
        assert.deepStrictEqual(actionsOf(yield* importing(provider, { apply: true })), [["news", "draft"]])
        const last = `${OWN}/${String(valueAt((yield* drafts)[0], "id"))}`
        yield* expecting(200, { path: last, method: "DELETE", key: provider.key })
        const named = yield* importing(provider, { apply: true, listed: true, overrides: [{ tool_name: "news" }] })
        assert.deepStrictEqual(actionsOf(named), [["news", "list"]])
      })
    )

    it.effect(`reads all pages of a ${era} server, up to 1,000 tools of 5,000`, () =>
      Effect.gen(function* () {
        const { list, state } = aListing(...Array.from({ length: 230 }, (_, n) => tool(`t${n}`)))
        state.pageSize = 50
        const { url } = yield* servers[era](list)
        const provider = yield* aProvider({ endpoint_url: url })
        const all = yield* importing(provider)
        assert.deepInclude(at(all), { tools_found: 230, truncated: false })
        state.tools = Array.from({ length: 5_000 }, (_, n) => tool(`t${n}`))
        state.pageSize = 500
        const most = yield* importing(provider)
        assert.isTrue(at(most, "truncated"))
        assert.isAtMost(listAt(most, "tools").length, 1_000)
      })
    )
  }

  it.effect("imports at registration, and replays an import under its key", () =>
    Effect.gen(function* () {
      const { list } = aListing(tool("echo"), tool("slow"))
      const { url } = yield* servers.modern(list)
      const body = { endpoint_url: url, default_price_microcents: 700, import: true, listed: true }
      const answer = yield* expecting(201, { path: PROVIDERS, json: providerBody(body) })
      assert.isTrue(at(answer, "import", "applied"))
      const provider = { id: textAt(answer, "provider_id"), key: textAt(answer, "api_key") }
      assert.deepStrictEqual(yield* catalogOf(provider), ["echo", "slow"])
      assert.strictEqual(valueAt(yield* listedTool(provider, "echo"), "pricing", "price_microcents"), 700)
      const again = {
        path: IMPORT,
        key: provider.key,
        headers: { "idempotency-key": "once" },
        json: { default_price_microcents: 1, apply: true }
      }
      const [first, second] = [yield* expecting(200, again), yield* expecting(200, again)]
      assert.strictEqual(first.text, second.text)
      assert.strictEqual(second.headers["idempotent-replay"], "true")
    })
  )

  it.effect(
    "rejects a tool that the server does not list, with the nearest name, unless it is said to be unlisted",
    () =>
      Effect.gen(function* () {
        const { list } = aListing(tool("search_papers"), tool("fetch"))
        const { url } = yield* servers.legacy(list)
        const rejected = yield* expecting(422, {
          path: PROVIDERS,
          json: providerBody({ endpoint_url: url, tools: [{ tool_name: "searchPapers" }] })
        })
        assert.include(rejected.text, "Did you mean `search_papers`?")
        const provider = yield* aProvider({ endpoint_url: url })
        const put = (status: number, ...tools: ReadonlyArray<Readonly<Record<string, unknown>>>) =>
          expecting(status, { path: TOOLS, key: provider.key, json: { tools } })
        const mixed = yield* put(201, { tool_name: "fetch" }, { tool_name: "secret" })
        assert.deepStrictEqual(namesOf(listAt(mixed, "tool_errors")), ["secret"])
        assert.deepInclude(at(mixed, "endpoint"), { reachable: true, era: "legacy", tools_found: 2 })
        yield* put(422, { tool_name: "secret" })
        yield* put(201, { tool_name: "secret", unlisted: true })
        yield* put(201, { tool_name: "secret", price_microcents: 5 })
      })
  )

  it.effect("changes nothing when the server is down, answers nonsense, or lists hostile tools", () =>
    Effect.gen(function* () {
      let answer: unknown = { resultType: "complete", tools: [tool("echo")] }
      const server = yield* scriptedServer({
        era: "modern",
        onCall: () => {},
        onOther: (seen, response) => {
          if (seen.method !== "tools/list") return false
          json(response, answer === undefined ? "nonsense" : result(seen, answer))
          return true
        }
      })
      const provider = yield* aProvider({ endpoint_url: server.url })
      yield* importing(provider, { listed: true, apply: true })
      answer = undefined
      const nonsense = yield* importing(provider, { apply: true }, 502)
      assert.include(nonsense.text, "Nothing was changed")
      answer = { resultType: "complete", tools: "none" }
      yield* importing(provider, { apply: true }, 502)
      const deep = (levels: number): unknown => (levels === 0 ? {} : { a: deep(levels - 1) })
      answer = {
        resultType: "complete",
        tools: [
          tool("acme tool"),
          tool("../../etc"),
          tool("a\u202eb"),
          tool("price", { price_microcents: 1, _meta: { "agent-tool-billing/price": { price_microcents: 1 } } }),
          tool("deep", { inputSchema: deep(100) }),
          tool("remote", { inputSchema: { $ref: "https://evil.example/schema" } }),
          tool("echo", { inputSchema: { type: 5 } }),
          null,
          { name: 5 }
        ]
      }
      const hostile = yield* importing(provider, { listed: true, apply: true })
      assert.deepStrictEqual(actionsOf(hostile), [["price", "list"]])
      for (const name of ["echo", "price"]) {
        const shown = yield* listedTool(provider, name)
        assert.strictEqual(valueAt(shown, "pricing", "price_microcents"), 500)
        assert.deepStrictEqual(valueAt(shown, "input_schema"), { type: "object" })
      }
    })
  )
})

it.layer(ServiceUnderTest.memory({ ENDPOINT_PROBE_MS: "200" }), LIVE)("A server that never answers", (it) => {
  it.effect("does not keep a registration waiting, and the answer says so", () =>
    Effect.gen(function* () {
      const server = yield* scriptedServer({ era: "modern", onCall: () => {}, onOther: () => true })
      const answer = yield* expecting(201, {
        path: PROVIDERS,
        json: providerBody({ endpoint_url: server.url, import: true, tools: [{ tool_name: "anything" }] })
      })
      assert.isFalse(at(answer, "endpoint", "reachable"))
      assert.isNull(at(answer, "import"))
      assert.strictEqual(at(answer, "tools_registered"), 1)
    })
  )
})
