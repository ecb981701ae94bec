/**
 * A service in memory with a catalog: a provider of three tools of different kinds, one that sells many, and a
 * developer with funds.
 */
import { Effect } from "effect"
import { json, result, type Seen } from "../../../testing/mcp/ScriptedServer.ts"
import { providing } from "../metering/Provider.ts"
import { post, ready } from "../servers/ServiceProcess.ts"

export const MANY = 23
export const OPERATOR_KEY = "the-operator-of-this-service-0123456789"

export const ROUTE = {
  tool_name: "maps/route",
  display_name: "Route planner",
  description: "The fastest way between two places, by car, by bike or on foot.\n\nKnows closed roads.",
  category: "maps",
  price_microcents: 1_250,
  free_tier_calls: 0,
  input_schema: {
    type: "object",
    properties: {
      to: { type: "string", description: "Where to, as people write it.", minLength: 2 },
      by: { enum: ["car", "bike", "foot"], default: "bike", description: "How." },
      stops: { type: "array", items: { type: "string" }, maxItems: 3 },
      limit: { type: "integer", minimum: 1, maximum: 10 },
      speed: { type: "number", description: "In km/h." },
      scenic: { type: "boolean" },
      options: { $ref: "#/$defs/options" }
    },
    required: ["to", "by"],
    $defs: { options: { type: "object", properties: { tolls: { type: "boolean" } } } }
  },
  output_schema: { type: "object", properties: { km: { type: "number" } } }
}

const route = (seen: Seen) => ({
  content: [{ type: "text", text: `It is 12 km to ${String((seen.params["arguments"] as { to?: string }).to)}` }],
  structuredContent: { km: 12, asked: seen.params["arguments"] }
})

const FAILURE = { isError: true, content: [{ type: "text", text: "The road is <b>closed</b>" }] }

export const catalogShop = Effect.gen(function* () {
  const { url } = yield* ready({
    PROFILE: "memory",
    LOG_LEVEL: "Error",
    OPERATOR_KEY,
    RATE_LIMIT_IP_RPM: "0",
    RATE_LIMIT_REGISTER_RPM: "0"
  })
  const server = yield* providing((seen, response) =>
    json(response, result(seen, seen.params["name"] === "maps/route" ? route(seen) : FAILURE))
  )
  const ada = yield* post(`${url}/api/market/register-provider`, {
    name: "Ada & Söhne",
    email: "ada@example.org",
    endpoint_url: server.url,
    default_price_microcents: 20_000,
    tools: [
      { ...ROUTE, price_microcents: 900 },
      {
        tool_name: "jam",
        category: "maps",
        description: "Says how long a road is closed.",
        billing_policy: "attempt",
        free_tier_calls: 100
      }
    ]
  })
  yield* post(`${url}/api/market/tools`, { tools: [ROUTE] }, String(ada.body["api_key"]))
  const many = yield* post(`${url}/api/market/register-provider`, {
    name: "Wordsmith",
    email: "words@example.org",
    endpoint_url: server.url,
    pricing_model: "free",
    tools: Array.from({ length: MANY }, (_, n) => ({
      tool_name: `words.${String(n).padStart(2, "0")}`,
      category: "text",
      description: n === 0 ? "" : `Counts the words of a page, the ${n}th way.`
    }))
  })
  const buyer = yield* post(`${url}/api/market/register-consumer`, {
    name: "Curious agent",
    email: "agent@example.org"
  })
  const key = String(buyer.body["api_key"])
  yield* post(`${url}/api/market/balance/load`, { amount_cents: 100 }, key)
  const [routeId, jamId] = (ada.body["tools"] as ReadonlyArray<{ readonly id: string }>).map(({ id }) => id)
  return {
    url,
    server,
    key,
    routeId: routeId!,
    jamId: jamId!,
    adaId: String(ada.body["provider_id"]),
    adaKey: String(ada.body["api_key"]),
    manyId: String(many.body["provider_id"])
  }
})
