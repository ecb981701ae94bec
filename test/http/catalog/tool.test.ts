/**
 * One tool: what the catalog shows and more, all its price versions, and a declaration that leaves it unchanged.
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
  putTools,
  textAt,
  unasked,
  valueAt
} from "../../support/market/Market.ts"
import { ServiceUnderTest, LIVE, send } from "../../support/market/ServiceUnderTest.ts"

const toolAt = (id: string) => `/api/v1/market/tools/${id}`
const details = (id: string) => expecting(200, { path: unasked(toolAt(id)) })
const put = (provider: Member, tool: Readonly<Record<string, unknown>>) =>
  Effect.map(putTools(provider, tool), (answer) => textAt(answer, "tools", 0, "id"))

const FULL = {
  tool_name: "maps/route",
  display_name: "Weg & <Ziel>",
  description: "The fastest way, \u{1f600} or not",
  category: "maps",
  price_microcents: 1_250,
  free_tier_calls: 3,
  input_schema: { type: "object", properties: { to: { type: "string" } }, required: ["to"] },
  output_schema: { type: "object", properties: { km: { type: "number" } } },
  billing_policy: "valid_output",
  max_cost_microcents: 9_000,
  timeout_ms: 2_500,
  idempotent: true,
  on_cancel: "pass",
  canceled_call_costs: "nothing"
}

it.layer(ServiceUnderTest.memory(), LIVE)("one tool", (it) => {
  it.effect("returns everything that its provider declared, and what the catalog shows", () =>
    Effect.gen(function* () {
      const provider = yield* aProvider()
      const answer = yield* details(yield* put(provider, FULL))
      const listed = yield* expecting(200, { path: unasked(`${CATALOG}?provider_id=${provider.id}`) })
      const {
        billing_policy,
        declaration,
        idempotent,
        max_cost_microcents,
        output_schema,
        price_history,
        timeout_ms,
        unchecked,
        version_history
      } = answer.json as Readonly<Record<string, never>>
      const more = {
        billing_policy,
        declaration,
        idempotent,
        max_cost_microcents,
        output_schema,
        price_history,
        timeout_ms,
        unchecked,
        version_history
      }
      assert.deepStrictEqual<unknown>(answer.json, { ...(at(listed, "tools", 0) as object), ...more })
      assert.deepStrictEqual<unknown>(declaration, FULL)
      assert.deepStrictEqual<unknown>(
        [billing_policy, idempotent, max_cost_microcents, output_schema, timeout_ms],
        ["valid_output", true, 9_000, FULL.output_schema, 2_500]
      )
      assert.deepStrictEqual<unknown>(price_history, [
        {
          version: 1,
          price_microcents: 1_250,
          max_cost_microcents: 9_000,
          price: "up to $0.009",
          usage_priced: true,
          free_tier_calls: 3,
          billing_policy: "valid_output",
          on_cancel: "pass",
          canceled_call_costs: "nothing",
          effective_from: textAt(answer, "price_history", 0, "effective_from")
        }
      ])
      assert.strictEqual(answer.headers["cache-control"], "public, max-age=60")
    })
  )

  it.effect("names every price version, the newest first, and none for a change of texts", () =>
    Effect.gen(function* () {
      const provider = yield* aProvider()
      for (const change of [
        { price_microcents: 100 },
        { price_microcents: 100, description: "other words" },
        { price_microcents: 0 },
        { price_microcents: 0, free_tier_calls: 5 }
      ]) {
        yield* put(provider, { tool_name: "priced", ...change })
      }
      const id = yield* put(provider, { tool_name: "priced", price_microcents: 0, free_tier_calls: 5 })
      const history = listAt(yield* details(id), "price_history")
      assert.deepStrictEqual(
        history.map((one) => ["version", "price", "free_tier_calls"].map((field) => valueAt(one, field))),
        [
          [3, "Free", 5],
          [2, "Free", 0],
          [1, "$0.0001", 0]
        ]
      )
      const since = history.map((one) => String(valueAt(one, "effective_from")))
      assert.deepStrictEqual(since, since.toSorted().toReversed())
    })
  )

  it.effect("stays unchanged when its own declaration is sent back", () =>
    Effect.gen(function* () {
      const provider = yield* aProvider({ default_price_microcents: 777 })
      const declarations = [
        FULL,
        { tool_name: "bare" },
        { tool_name: "free", price_cents_override: 0, free_tier_calls: 0 },
        { tool_name: "old", pricing: { price_cents: 2, free_tier_calls: 1 } },
        { tool_name: "blank", display_name: "", description: "", billing_policy: "attempt" },
        { tool_name: "odd", input_schema: { title: "__proto__", enum: [null, 1e21, -0.5, "\u2028"] } }
      ]
      for (const declared of declarations) {
        const id = yield* put(provider, declared)
        const before = yield* details(id)
        const sent = at(before, "declaration") as Readonly<Record<string, unknown>>
        assert.strictEqual(yield* put(provider, sent), id)
        const after = yield* details(id)
        assert.deepStrictEqual(after.json, before.json, declared.tool_name)
        yield* put(provider, { ...sent, description: "changed" })
        const changed = yield* details(id)
        assert.deepStrictEqual<unknown>(changed.json, {
          ...(before.json as object),
          description: "changed",
          declaration: { ...sent, description: "changed" },
          version_history: [
            {
              version: 2,
              changed: ["description"],
              source: "provider",
              changed_at: at(changed, "version_history", 0, "changed_at")
            },
            ...(at(before, "version_history") as ReadonlyArray<unknown>)
          ]
        })
      }
    })
  )

  it.effect("is current for every reader as soon as the provider's request returned", () =>
    Effect.gen(function* () {
      const provider = yield* aProvider()
      const id = yield* put(provider, { tool_name: "changing", price_microcents: 0 })
      for (let round = 1; round <= 20; round++) {
        yield* put(provider, { tool_name: "changing", price_microcents: round })
        const answer = yield* expecting(200, { path: toolAt(id) })
        assert.strictEqual(at(answer, "price_history", 0, "price_microcents"), round)
      }
    })
  )

  it.effect("returns 404 where it does not exist", () =>
    Effect.gen(function* () {
      const nobody = yield* expecting(404, { path: toolAt("00000000-0000-4000-8000-000000000000") })
      assert.include(textAt(nobody, "message"), "GET /api/market/catalog")
      for (const id of ["1", "%00", "..", "'; DROP TABLE tools; --"]) {
        assert.strictEqual((yield* send({ path: toolAt(encodeURIComponent(id)) })).status, 404, id)
      }
    })
  )
})
