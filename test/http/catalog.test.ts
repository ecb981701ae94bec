/**
 * The catalog and the price list: every field, filter and order, and exact totals.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import {
  aProvider,
  at,
  CATALOG,
  expecting,
  listAt,
  type Member,
  namesOf,
  putTools,
  textAt,
  unasked,
  valueAt
} from "../support/market/Market.ts"
import { fixedPrice } from "../support/market/Prices.ts"
import { ServiceUnderTest, LIVE, send } from "../support/market/ServiceUnderTest.ts"

const PRICING = "/api/v1/market/pricing"
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/u
const ROUNDS = 60

const find = (query: string) => expecting(200, { path: unasked(`${CATALOG}?${query}`) })
const found = (query: string) => Effect.map(find(query), (answer) => namesOf(listAt(answer, "tools")))

/** A market whose names occur in no other test. */
const aMarket = Effect.fnUntraced(function* (word: string) {
  const one = yield* aProvider({ name: `${word} Works`, default_price_microcents: 300 })
  const two = yield* aProvider({ name: "Zebra & Söhne", pricing_model: "free" })
  yield* putTools(
    one,
    {
      tool_name: `${word}.b`,
      display_name: "Übersetzung",
      category: "text",
      price_microcents: 200,
      description: "of a page"
    },
    { tool_name: `${word}.a`, category: "weather", description: "What the sky will do" },
    {
      tool_name: `${word}.d`,
      category: "weather",
      price_microcents: 100,
      free_tier_calls: 0,
      input_schema: { type: "object" }
    }
  )
  yield* putTools(two, { tool_name: `${word}.c`, description: "50% off, <b>really</b>" })
  return [one, two] as const satisfies ReadonlyArray<Member>
})

it.layer(ServiceUnderTest.memory(), LIVE)("the catalog", (it) => {
  it.effect("returns every field of a tool that the contract names", () =>
    Effect.gen(function* () {
      const [one] = yield* aMarket("fields")
      const answer = yield* find(`provider_id=${one.id}`)
      assert.deepStrictEqual([at(answer, "total"), at(answer, "limit"), at(answer, "offset")], [3, 50, 0])
      assert.match(textAt(answer, "timestamp"), INSTANT)
      assert.includeMembers([...listAt(answer, "categories")], ["other", "text", "weather"])
      const tool = listAt(answer, "tools")[2]
      assert.deepStrictEqual<unknown>(tool, {
        id: valueAt(tool, "id"),
        tool_name: "fields.d",
        qualified_name: "fields-works/fields.d",
        display_name: "fields.d",
        description: "",
        category: "weather",
        input_schema: { type: "object" },
        provider: {
          id: one.id,
          handle: "fields-works",
          name: "fields Works",
          verified: false,
          verification_level: "unverified",
          badge: "unrated",
          trust_score: null
        },
        pricing: fixedPrice(100, "$0.0001"),
        stats: {
          total_calls: 0,
          reported_calls: 0,
          avg_latency_ms: null,
          avg_response_time_ms: null,
          p95_latency_ms: null,
          uptime_pct: null
        },
        on_cancel: "finish",
        canceled_call_costs: "price",
        annotations: null,
        state: "listed",
        withdrawn_at: null,
        provider_frozen_at: null
      })
      assert.strictEqual(at(answer, "tools", 0, "input_schema"), null)
    })
  )

  it.effect("finds words by prefix in every text of a tool, ignoring case and accents", () =>
    Effect.gen(function* () {
      const [one, two] = yield* aMarket("words")
      const within = (q: string, provider: Member) => found(`provider_id=${provider.id}&q=${encodeURIComponent(q)}`)
      assert.deepStrictEqual(yield* within("SKY", one), ["words.a"])
      assert.deepStrictEqual(yield* within("uber", one), ["words.b"])
      assert.deepStrictEqual(yield* within("ÜBERSETZ", one), ["words.b"])
      assert.deepStrictEqual(yield* within("weath", one), ["words.a", "words.d"])
      assert.deepStrictEqual(yield* within("sky wea", one), ["words.a"])
      assert.deepStrictEqual(yield* within("sky text", one), [])
      assert.deepStrictEqual(yield* within("ky", one), [])
      assert.deepStrictEqual(yield* within("sohne zeb", two), ["words.c"])
      assert.deepStrictEqual(yield* within("", one), ["words.a", "words.b", "words.d"])
      for (const q of ["!!!", "   ", "-"]) assert.lengthOf(yield* within(q, one), 3, q)
    })
  )

  it.effect("accepts any text as a search, and runs none of it", () =>
    Effect.gen(function* () {
      yield* aMarket("hostile")
      const texts = [
        "'",
        "' OR 1=1 --",
        "a:* & b | !c <-> (d)",
        "\\",
        "%",
        "_",
        "$1",
        "\0",
        "\u{1f600}",
        "日本語",
        "a\nb",
        "x".repeat(200),
        "a ".repeat(100),
        "((((",
        "*:*"
      ]
      for (const q of texts) yield* expecting(200, { path: `${CATALOG}?q=${encodeURIComponent(q)}` })
      for (const q of ["%ff", "%ed%a0%80", "%", "%zz", "+++"]) {
        assert.include([200, 400], (yield* send({ path: `${CATALOG}?q=${q}` })).status, q)
      }
      yield* expecting(400, { path: `${CATALOG}?q=${"x".repeat(201)}` })
    })
  )

  it.effect("filters by category and provider, and counts the filtered tools", () =>
    Effect.gen(function* () {
      const [one, two] = yield* aMarket("filter")
      const weather = yield* find(`category=weather&provider_id=${one.id}&limit=1`)
      assert.deepStrictEqual([at(weather, "total"), namesOf(listAt(weather, "tools"))], [2, ["filter.a"]])
      assert.deepStrictEqual(yield* found(`category=weather&provider_id=${two.id}`), [])
      assert.deepStrictEqual(yield* found(`category=no-such-category`), [])
      const nobody = yield* find("provider_id=00000000-0000-4000-8000-000000000000")
      assert.deepStrictEqual([at(nobody, "total"), at(nobody, "tools"), at(nobody, "next_cursor")], [0, [], null])
      const all = yield* find(`q=filter&category=weather`)
      assert.deepStrictEqual([at(all, "total"), namesOf(listAt(all, "tools"))], [2, ["filter.a", "filter.d"]])
    })
  )

  it.effect("filters by price, on every page", () =>
    Effect.gen(function* () {
      const [one, two] = yield* aMarket("dear")
      assert.deepStrictEqual(yield* found("q=dear&max_price_microcents=200"), ["dear.b", "dear.c", "dear.d"])
      assert.deepStrictEqual(yield* found("q=dear&max_price_microcents=199"), ["dear.c", "dear.d"])
      assert.deepStrictEqual(yield* found("q=dear&max_price_microcents=0"), ["dear.c"])
      assert.deepStrictEqual(yield* found("q=dear&max_price_microcents=9007199254740991&limit=100"), [
        "dear.a",
        "dear.b",
        "dear.c",
        "dear.d"
      ])
      const filter = `provider_id=${one.id}&max_price_microcents=250&sort=price&limit=1`
      const first = yield* find(filter)
      assert.deepStrictEqual([at(first, "total"), namesOf(listAt(first, "tools"))], [2, ["dear.d"]])
      const second = yield* find(`${filter}&cursor=${textAt(first, "next_cursor")}`)
      assert.deepStrictEqual(namesOf(listAt(second, "tools")), ["dear.b"])
      assert.isNull(at(second, "next_cursor"))
      assert.deepStrictEqual(yield* found(`provider_id=${two.id}&max_price_microcents=1`), ["dear.c"])
      for (const price of ["", "-1", "1.5", "1e3", "free", "9007199254740992", "99999999999999999999"]) {
        yield* expecting(400, { path: `${CATALOG}?max_price_microcents=${price}` })
      }
    })
  )

  it.effect("sorts by name, price or age", () =>
    Effect.gen(function* () {
      yield* aMarket("sort")
      for (const [sort, order] of [
        ["", "abcd"],
        ["&sort=name", "abcd"],
        ["&sort=price", "cdba"],
        ["&sort=price_desc", "abdc"],
        ["&sort=newest", "cdab"]
      ]) {
        const names = yield* found(`q=sort${sort}`)
        assert.strictEqual(names.map((name) => String(name).slice(-1)).join(""), order, sort)
      }
      for (const sort of ["", "NAME", "random", "price,name"])
        yield* expecting(400, { path: `${CATALOG}?sort=${sort}` })
    })
  )

  it.effect("shows a tool's new price, text and position as soon as the provider's request returned", () =>
    Effect.gen(function* () {
      const provider = yield* aProvider()
      const path = `${CATALOG}?provider_id=${provider.id}`
      for (let round = 1; round <= ROUNDS; round++) {
        yield* putTools(provider, { tool_name: "changing", price_microcents: round })
        // The same URL each time: a cached response must have been invalidated by now.
        const answer = yield* expecting(200, { path })
        assert.strictEqual(at(answer, "tools", 0, "pricing", "price_microcents"), round)
      }
    })
  )

  it.effect("moves a tool with a changed price, and drops a category with its last tool", () =>
    Effect.gen(function* () {
      const provider = yield* aProvider()
      yield* putTools(provider, { tool_name: "x", category: "soon gone", price_microcents: 1 }, { tool_name: "y" })
      assert.include([...listAt(yield* find(""), "categories")], "soon gone")
      yield* putTools(provider, { tool_name: "x", category: "new one", price_microcents: 9 })
      const after = yield* find(`provider_id=${provider.id}&sort=price`)
      assert.deepStrictEqual(namesOf(listAt(after, "tools")), ["y", "x"])
      assert.notInclude([...listAt(after, "categories")], "soon gone")
      assert.include([...listAt(after, "categories")], "new one")
    })
  )
})

it.layer(ServiceUnderTest.memory(), LIVE)("the price list", (it) => {
  it.effect("returns what a call of each tool costs, to the microcent", () =>
    Effect.gen(function* () {
      const [one, two] = yield* aMarket("list")
      const answer = yield* expecting(200, { path: unasked(PRICING) })
      assert.deepStrictEqual(at(answer, "pricing"), at(answer, "tools"))
      assert.deepStrictEqual(
        ["total", "platform_fee", "platform_fee_bps", "microcents_per_cent"].map((field) => at(answer, field)),
        [4, "10%", 1_000, 10_000]
      )
      assert.match(textAt(answer, "timestamp"), INSTANT)
      const line = listAt(answer, "pricing")[1]
      assert.deepStrictEqual<unknown>(line, {
        tool_id: valueAt(line, "tool_id"),
        tool_name: "list.b",
        qualified_name: "list-works/list.b",
        display_name: "Übersetzung",
        description: "of a page",
        category: "text",
        provider: "list Works",
        provider_id: one.id,
        provider_handle: "list-works",
        pricing: {
          ...fixedPrice(200, "$0.0002"),
          price_per_call_microcents: 200,
          price_per_call_cents: 0,
          price_per_call: "$0.0002"
        },
        price_cents: 0,
        price: "$0.0002",
        platform_fee_bps: 1_000,
        free_tier_limit: 0,
        free_tier_remaining: 0
      })
      assert.strictEqual(at(answer, "pricing", 2, "provider_id"), two.id)
      assert.deepStrictEqual(
        [at(answer, "pricing", 2, "pricing", "model"), at(answer, "pricing", 2, "pricing", "price_per_call")],
        ["free", "Free"]
      )
    })
  )
})
