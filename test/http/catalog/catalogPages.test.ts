/**
 * Catalog pages over HTTP: any query is accepted, changes are visible immediately, any schema is displayed.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { aProvider, expecting, putTools, textAt, unasked } from "../../support/market/Market.ts"
import { ServiceUnderTest, LIVE, send } from "../../support/market/ServiceUnderTest.ts"

const UNKNOWN_ID = "00000000-0000-4000-8000-000000000000"
const page = (path: string) => Effect.map(expecting(200, { path: unasked(path) }), ({ text }) => text)
const linksIn = (text: string): ReadonlyArray<string | undefined> =>
  [...text.matchAll(/<h2><a href="\/catalog\/[0-9a-f-]{36}">([^<]*)<\/a><\/h2>/gu)].map(([, name]) => name)

it.layer(ServiceUnderTest.memory(), LIVE)("catalog pages", (it) => {
  it.effect("accept any query and ignore invalid parameters", () =>
    Effect.gen(function* () {
      const provider = yield* aProvider({ name: "Any Address" })
      yield* putTools(
        provider,
        { tool_name: "any.a", price_microcents: 500, category: "some" },
        { tool_name: "any.b", price_microcents: 1_000_000, description: "the word elsewhere" }
      )
      const of = (query: string) => Effect.map(page(`/catalog?provider_id=${provider.id}&${query}`), linksIn)
      const asked: ReadonlyArray<readonly [query: string, names: ReadonlyArray<string>]> = [
        ["", ["any.a", "any.b"]],
        ["q=&category=&max_price=&sort=&page=", ["any.a", "any.b"]],
        ["sort=price_desc", ["any.b", "any.a"]],
        ["sort=nonsense&page=-1&category=NO%00", ["any.a", "any.b"]],
        ["max_price=0.0005", ["any.a"]],
        ["max_price=%240.000499", []],
        ["max_price=1,0", ["any.a", "any.b"]],
        ["category=some", ["any.a"]],
        ["category=none", []],
        ["q=elsew", ["any.b"]],
        ["page=2", []],
        ["page=99999", []],
        ["page=1e9&q=%ed%a0%80", ["any.a", "any.b"]],
        [`q=${"x".repeat(5_000)}`, []]
      ]
      for (const [query, names] of asked) assert.deepStrictEqual<ReadonlyArray<unknown>>(yield* of(query), names, query)
      for (const id of [UNKNOWN_ID, "x", "%00", "'; DROP TABLE tools; --"]) {
        yield* page(`/catalog?provider_id=${encodeURIComponent(id)}`)
      }
      yield* expecting(400, { path: "/catalog?q=a&q=b" })
    })
  )

  it.effect("show changes immediately", () =>
    Effect.gen(function* () {
      const provider = yield* aProvider()
      const id = textAt(yield* putTools(provider, { tool_name: "changing", price_microcents: 1 }), "tools", 0, "id")
      for (let round = 2; round < 10; round++) {
        yield* putTools(provider, { tool_name: "changing", price_microcents: round })
        for (const path of [`/catalog/${id}`, `/catalog?provider_id=${provider.id}`]) {
          assert.include((yield* expecting(200, { path })).text, `$0.00000${round}`)
        }
      }
    })
  )

  it.effect("show the terms of a tool", () =>
    Effect.gen(function* () {
      const provider = yield* aProvider({ pricing_model: "per_token" })
      const told = yield* putTools(
        provider,
        { tool_name: "plain", price_microcents: 0, free_tier_calls: 1 },
        {
          tool_name: "all",
          price_microcents: 1_234_567,
          billing_policy: "valid_output",
          output_schema: { type: "object" },
          max_cost_microcents: 5_000_000,
          timeout_ms: 2_500,
          idempotent: true
        }
      )
      const plain = yield* page(`/catalog/${textAt(told, "tools", 0, "id")}`)
      for (const part of ["Free", "1 call per developer", "On success."]) assert.include(plain, part)
      assert.notInclude(plain, "Timeout")
      const all = yield* page(`/catalog/${textAt(told, "tools", 1, "id")}`)
      for (const part of [
        "up to $5.00",
        "costs $1.234567",
        "by tokens",
        "On valid output.",
        "Usage-priced",
        "2.5 s per attempt",
        "Idempotent"
      ]) {
        assert.include(all, part)
      }
    })
  )

  it.effect("sample the input of any schema", () =>
    Effect.gen(function* () {
      const provider = yield* aProvider()
      const deep = (levels: number): object =>
        levels === 0 ? { type: "string" } : { type: "object", properties: { a: deep(levels - 1) }, required: ["a"] }
      const schemas: ReadonlyArray<readonly [schema: object, sample: string]> = [
        [{}, "{}"],
        [{ type: "object", properties: {}, required: [] }, "{}"],
        [{ type: "array", items: {} }, "{}"],
        [{ properties: { a: { type: "integer", minimum: 7 } }, required: ["a"] }, '{"a":7}'],
        [{ properties: { a: { default: "</script>'\"" } }, required: ["a"] }, `{"a":"</script>'\\""}`],
        [
          { properties: { a: { enum: [null, 1] }, b: { const: [2] } }, required: ["b", "a", "none"] },
          '{"b":[2],"a":null}'
        ],
        [{ properties: { a: { type: ["boolean", "null"] }, b: {} }, required: ["a"] }, '{"a":true}'],
        [deep(20), '{"a":{"a":{"a":{"a":{}}}}}']
      ]
      for (const [schema, sample] of schemas) {
        const told = yield* putTools(provider, { tool_name: "sampled", input_schema: schema })
        const text = yield* page(`/catalog/${textAt(told, "tools", 0, "id")}`)
        const found = /data-sample="([^"]*)"/u.exec(text)![1]!
        assert.strictEqual(unescaped(found), sample, JSON.stringify(schema).slice(0, 100))
      }
    })
  )

  it.effect("return a 404 page for unknown tools", () =>
    Effect.gen(function* () {
      for (const id of [UNKNOWN_ID, "x", "%00", "%2e%2e", "a".repeat(80)]) {
        const answer = yield* send({ path: `/catalog/${id}` })
        assert.strictEqual(answer.status, 404)
        assert.match(answer.headers["content-type"]!, /^text\/html/u)
        assert.include(answer.text, "This tool does not exist.")
      }
    })
  )
})

const unescaped = (text: string): string =>
  text
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&")
