/**
 * The market door over HTTP: the toolbox under aliases, its own tools, and calls that are billed like all others.
 */
import { assert, it } from "@effect/vitest"
import { Effect, type Schema } from "effect"
import { BILLING_META, PRICE_META, TOOL_META } from "../../../domain/upstream/Protocol.ts"
import { json, result } from "../../../testing/mcp/ScriptedServer.ts"
import { aConsumer, expecting, type Member, valueAt } from "../../support/market/Market.ts"
import { asked, modernCall, toolCalled } from "../../support/mcp/ModernClient.ts"
import { forwarded } from "../../support/metering/Provider.ts"
import {
  aFundedConsumer,
  anOffer,
  memoryMarket,
  type Offer,
  PRICE,
  walletOf,
  qualifiedNameOf
} from "../../support/metering/Shop.ts"
import { scriptedServer } from "../../../testing/mcp/ScriptedServer.ts"
import { LIVE, send } from "../../support/market/ServiceUnderTest.ts"

const TOOLBOX = "/api/market/toolbox"

const DEFINITION = {
  name: "echo",
  title: "Echo!",
  description: "Repeats what it gets.",
  inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  "x-unknown": 1e2
}

/** Its server lists the tool, and repeats the text of a call. */
const echoing = scriptedServer({
  era: "modern",
  onCall: (seen, response) =>
    json(response, result(seen, { content: [{ type: "text", text: JSON.stringify(seen.params["arguments"]) }] })),
  onOther: (seen, response) => {
    if (seen.method !== "tools/list") return false
    json(response, result(seen, { resultType: "complete", tools: [DEFINITION], ttlMs: 1_000, cacheScope: "public" }))
    return true
  }
})

const choose = (consumer: Member, ...offers: ReadonlyArray<Offer>) =>
  expecting(200, { path: TOOLBOX, key: consumer.key, json: { tools: offers.map(({ toolId }) => toolId) } })

const toolsOf = (list: Schema.JsonObject) => list["tools"] as ReadonlyArray<Schema.JsonObject>

/** Until the toolbox has reached the caches. */
const listedWith = (consumer: Member, count: number) =>
  Effect.gen(function* () {
    for (;;) {
      const tools = toolsOf(yield* asked({ key: consumer.key, method: "tools/list" }))
      if (tools.length === 5 + count) return tools
      yield* Effect.sleep("10 millis")
    }
  })

const structured = (answer: Schema.JsonObject) => {
  assert.notStrictEqual(answer["isError"], true, JSON.stringify(answer))
  const value = answer["structuredContent"] as Schema.JsonObject
  assert.deepStrictEqual(JSON.parse(String(valueAt(answer, "content", 0, "text"))), value)
  return value
}

const errorText = (answer: Schema.JsonObject): string => {
  assert.isTrue(answer["isError"], JSON.stringify(answer))
  return String(valueAt(answer, "content", 0, "text"))
}

it.layer(memoryMarket(), LIVE)("The market door", (it) => {
  it.effect("describes the market", () =>
    Effect.gen(function* () {
      const { key } = yield* aConsumer()
      const found = yield* asked({ key, method: "server/discover" })
      assert.deepStrictEqual(found["capabilities"], {
        tools: { listChanged: true },
        extensions: { "io.modelcontextprotocol/tasks": {} }
      })
      assert.include(String(found["instructions"]), "find a tool with search_tools")
      const unknown = yield* send(modernCall({ key, method: "resources/list" }))
      assert.strictEqual(unknown.status, 404)
      assert.strictEqual(valueAt(unknown.json, "error", "code"), -32601)
    })
  )

  it.effect("rejects requests without a valid key, and those of providers", () =>
    Effect.gen(function* () {
      const { provider } = yield* anOffer("http://127.0.0.1:1/mcp")
      for (const [key, status] of [
        [undefined, 401],
        ["atb_c_nonsense", 401],
        [provider.key, 403]
      ] as const) {
        const answer = yield* send(modernCall({ key, method: "tools/list" }))
        assert.strictEqual(answer.status, status)
      }
    })
  )

  it.effect("lists its own tools, and the toolbox under aliases with prices and the definitions of the servers", () =>
    Effect.gen(function* () {
      const server = yield* echoing
      const consumer = yield* aConsumer()
      const echo = yield* anOffer(server.url, { free_tier_calls: 3 })
      const away = yield* anOffer("http://127.0.0.1:1/mcp", {
        tool_name: "away.now",
        display_name: "Away",
        description: "Is away.",
        input_schema: { properties: {} }
      })
      const own = toolsOf(yield* asked({ key: consumer.key, method: "tools/list" }))
      assert.deepStrictEqual(
        own.map(({ name: tool }) => tool),
        ["search_tools", "describe_tool", "call_tool", "quote", "balance"]
      )
      for (const tool of own) assert.strictEqual(valueAt(tool, "inputSchema", "type"), "object")

      yield* choose(consumer, away, echo)
      const [first, second] = (yield* listedWith(consumer, 2)).slice(5)
      const [awayName, echoName] = [yield* qualifiedNameOf(away), yield* qualifiedNameOf(echo)]
      assert.deepInclude(first, {
        name: awayName.replace("/", "__").replace(".", "_"),
        title: "Away",
        description: "Is away. Costs $0.012345 per call.",
        inputSchema: { type: "object" }
      })
      assert.deepInclude(second, {
        name: echoName.replace("/", "__"),
        title: "Echo!",
        description: "Repeats what it gets. Costs $0.012345 per call after 3 free calls a month.",
        inputSchema: DEFINITION.inputSchema,
        "x-unknown": 1e2
      })
      assert.deepInclude(valueAt(second, "_meta", PRICE_META), { price_microcents: PRICE, free_tier_remaining: 3 })
      assert.deepInclude(valueAt(second, "_meta", TOOL_META), { tool: echoName, tool_id: echo.toolId })

      yield* expecting(200, {
        method: "DELETE",
        path: `/api/v1/market/tools/${echo.toolId}`,
        key: echo.provider.key
      })
      yield* listedWith(consumer, 1)
    })
  )

  it.effect("calls a tool by its alias, bills it, and lists it from then on", () =>
    Effect.gen(function* () {
      const server = yield* echoing
      const consumer = yield* aFundedConsumer()
      const offer = yield* anOffer(server.url)
      yield* choose(consumer, offer)
      const alias = String((yield* listedWith(consumer, 1))[5]!["name"])
      const called = yield* toolCalled(consumer.key, alias, { text: "hi" })
      assert.strictEqual(valueAt(called, "content", 0, "text"), '{"text":"hi"}')
      assert.deepInclude(valueAt(called, "_meta", BILLING_META), {
        cost_microcents: PRICE,
        remaining_balance_microcents: 1_000_000 - PRICE
      })
      assert.deepStrictEqual(
        server.of("tools/call").map(({ params }) => params["name"]),
        ["echo"]
      )
      assert.strictEqual((yield* walletOf(consumer)).available, 1_000_000 - PRICE)

      const unknown = yield* send(
        modernCall({ key: consumer.key, method: "tools/call", params: { name: "echo", arguments: {} } })
      )
      assert.strictEqual(valueAt(unknown.json, "error", "code"), -32602)
      assert.include(String(valueAt(unknown.json, "error", "message")), "Find tools with search_tools.")
    })
  )

  it.effect("finds, describes, quotes and calls any tool", () =>
    Effect.gen(function* () {
      const server = yield* echoing
      const consumer = yield* aFundedConsumer()
      const offer = yield* anOffer(
        server.url,
        { description: "Reverberates quixotic utterances", input_schema: DEFINITION.inputSchema },
        { name: "Echoes" }
      )
      const tool = yield* qualifiedNameOf(offer)
      const own = (called: string, args: object) => toolCalled(consumer.key, called, args as never)

      const found = structured(yield* own("search_tools", { query: "reverberates quixotic" }))
      assert.deepInclude(found, { total: 1, has_all_words: true, next_cursor: null })
      assert.deepInclude(valueAt(found, "tools", 0), { tool, price_microcents: PRICE, trust_score: null })
      const loose = structured(yield* own("search_tools", { query: "a tool that reverberates things" }))
      assert.strictEqual(loose["has_all_words"], false)
      assert.strictEqual(valueAt(loose, "tools", 0, "tool"), tool)
      const paged = structured(yield* own("search_tools", { limit: 1 }))
      assert.isString(paged["next_cursor"])
      structured(yield* own("search_tools", { limit: 1, cursor: paged["next_cursor"] }))

      const described = structured(yield* own("describe_tool", { tool }))
      assert.deepInclude(described, { tool, input_schema: DEFINITION.inputSchema, alias: null })
      const quoted = structured(yield* own("quote", { tool: offer.toolId, arguments: { text: "hi" } }))
      assert.deepInclude(quoted, { cost_microcents: PRICE, available_microcents: 1_000_000, sufficient_funds: true })
      assert.strictEqual(forwarded(server), 0)

      const called = yield* own("call_tool", { tool, arguments: { text: "hi" }, idempotency_key: "once" })
      assert.strictEqual(valueAt(called, "content", 0, "text"), '{"text":"hi"}')
      const again = yield* own("call_tool", { tool, arguments: { text: "hi" }, idempotency_key: "once" })
      assert.deepStrictEqual(again, called)
      assert.strictEqual(forwarded(server), 1)
      const balance = structured(yield* own("balance", {}))
      assert.deepInclude(balance, { available_microcents: 1_000_000 - PRICE, frozen: false, budgets: [] })
    })
  )

  it.effect("rejects what costs too much or is wrong, in words for a model, and charges nothing", () =>
    Effect.gen(function* () {
      const server = yield* echoing
      const consumer = yield* aConsumer()
      const offer = yield* anOffer(server.url, { input_schema: DEFINITION.inputSchema })
      const tool = yield* qualifiedNameOf(offer)
      const own = (called: string, args: object) => toolCalled(consumer.key, called, args as never)
      const call = (args: object) => own("call_tool", { tool, arguments: { text: "hi" }, ...args })

      const poor = yield* call({})
      assert.include(errorText(poor), "Insufficient balance: this call costs $0.012345")
      assert.deepInclude(valueAt(poor, "_meta", BILLING_META), { code: "INSUFFICIENT_FUNDS", charged: false })
      assert.include(errorText(yield* call({ max_cost_microcents: 1 })), "above your cap")
      assert.include(errorText(yield* call({ arguments: { text: 7 } })), "`text`")
      assert.include(errorText(yield* call({ max_cost: 1 })), "Did you mean `max_cost_microcents`?")
      assert.include(errorText(yield* own("describe_tool", {})), "`tool` is required.")
      assert.include(errorText(yield* own("quote", { tool: "echo" })), "Send `tool` of a result of search_tools")
      assert.include(errorText(yield* own("quote", { tool, arguments: {} })), "text")
      assert.include(errorText(yield* own("search_tools", { cursor: "nonsense" })), "next_cursor")
      const unknown = yield* send(
        modernCall({
          key: consumer.key,
          method: "tools/call",
          params: { name: "call_tool", arguments: { tool: "echo-works/none" } }
        })
      )
      assert.include(String(valueAt(unknown.json, "error", "message")), "There is no tool `echo-works/none`.")
      assert.strictEqual(forwarded(server), 0)
    })
  )

  it.effect("does not take a tool's own name for a qualified one of an unknown handle", () =>
    Effect.gen(function* () {
      const server = yield* echoing
      const consumer = yield* aFundedConsumer()
      const victim = yield* anOffer(server.url)
      const misspelled = `x-${yield* qualifiedNameOf(victim)}`
      const squatter = yield* anOffer(server.url, {
        tool_name: misspelled,
        price_microcents: 900_000,
        unlisted: true
      })
      const called = yield* send(
        modernCall({
          key: consumer.key,
          method: "tools/call",
          params: { name: "call_tool", arguments: { tool: misspelled, arguments: {} } }
        })
      )
      assert.include(String(valueAt(called.json, "error", "message")), `There is no tool \`${misspelled}\`.`)
      for (const own of ["describe_tool", "quote"]) {
        const answer = yield* toolCalled(consumer.key, own, { tool: misspelled })
        assert.include(errorText(answer), "Send `tool` of a result of search_tools")
      }
      assert.strictEqual((yield* walletOf(consumer)).available, 1_000_000)
      assert.strictEqual(forwarded(server), 0)
      const full = yield* qualifiedNameOf(squatter)
      assert.strictEqual(structured(yield* toolCalled(consumer.key, "describe_tool", { tool: full }))["tool"], full)
    })
  )

  it.effect(
    "resolves `acme__t` by the stored aliases only: not as the tool t of acme, nor as a tool of that name",
    () =>
      Effect.gen(function* () {
        const server = yield* echoing
        const consumer = yield* aFundedConsumer()
        const acme = yield* anOffer(server.url, { tool_name: "t", unlisted: true }, { handle: "acme" })
        const squatter = yield* anOffer(server.url, {
          tool_name: "acme__t",
          price_microcents: 900_000,
          unlisted: true
        })
        const describe = toolCalled(consumer.key, "describe_tool", { tool: "acme__t" })
        assert.include(errorText(yield* describe), "There is no tool")
        yield* choose(consumer, squatter, acme)
        const aliases = (yield* listedWith(consumer, 2)).map(({ name }) => name).slice(-2)
        assert.match(String(aliases[0]), /__acme__t$/u)
        assert.strictEqual(aliases[1], "acme__t")
        assert.strictEqual(structured(yield* describe)["tool_id"], acme.toolId)
      })
  )

  it.effect("does not take a bare name for a tool, whatever providers call theirs", () =>
    Effect.gen(function* () {
      const server = yield* echoing
      const consumer = yield* aFundedConsumer()
      const victim = yield* anOffer(server.url)
      const alias = (yield* qualifiedNameOf(victim)).replace("/", "__")
      yield* anOffer(server.url, { tool_name: alias, price_microcents: 900_000, unlisted: true })
      const called = yield* toolCalled(consumer.key, "call_tool", { tool: alias, arguments: {} })
      assert.include(errorText(called), "There is no tool")
      assert.strictEqual((yield* walletOf(consumer)).available, 1_000_000)
      assert.strictEqual(forwarded(server), 0)
    })
  )
})
