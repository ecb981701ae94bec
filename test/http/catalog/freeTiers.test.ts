/**
 * Remaining free calls, over HTTP.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { fine, providing } from "../../support/metering/Provider.ts"
import { post, ready } from "../../support/servers/ServiceProcess.ts"

it.live(
  "returns the remaining free calls of the tools that a consumer called",
  () =>
    Effect.gen(function* () {
      const { url } = yield* ready({ PROFILE: "memory", LOG_LEVEL: "Error" })
      const provider = yield* providing(fine)
      yield* post(`${url}/api/market/register-provider`, {
        name: "Seller",
        email: "seller@example.org",
        endpoint_url: provider.url,
        tools: [
          { tool_name: "some", price_microcents: 500, free_tier_calls: 3 },
          { tool_name: "none", price_microcents: 500, free_tier_calls: 0 }
        ]
      })
      const { body } = yield* post(`${url}/api/market/register-consumer`, { name: "Buyer", email: "buyer@example.org" })
      const key = String(body["api_key"])
      const left = Effect.promise(async () => {
        const answer = await fetch(`${url}/api/v1/market/free-tiers`, { headers: { authorization: `Bearer ${key}` } })
        return (await answer.json()) as Record<string, unknown>
      })
      assert.deepInclude(yield* left, { free_tiers: [], total: 0 })
      yield* post(`${url}/api/market/balance/load`, { amount_cents: 100 }, key)
      for (const tool of ["some", "none", "some"]) yield* post(`${url}/api/market/proxy`, { tool_name: tool }, key)
      const { free_tiers: tiers, resets_at: resets } = yield* left
      assert.match(String(resets), /^\d{4}-\d{2}-01T00:00:00\.000Z$/u)
      const [tier, ...others] = tiers as ReadonlyArray<Record<string, unknown>>
      assert.deepStrictEqual(others, [])
      assert.deepInclude(tier, { tool_name: "some", provider: "Seller", free_tier_calls: 3, used: 2, left: 1 })
    }).pipe(Effect.scoped),
  { timeout: 180_000 }
)
