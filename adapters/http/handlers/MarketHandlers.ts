/**
 * The market's index, its health, and the endpoints that describe themselves.
 */
import { DateTime, Duration, Effect, Fiber } from "effect"
import { AccountStore } from "../../../domain/accounts/AccountStore.ts"
import { Catalog } from "../../../domain/catalog/Catalog.ts"
import { format } from "../../../domain/shared/Timestamp.ts"
import { CatalogApi } from "../api/CatalogApi.ts"
import { allEndpoints } from "../api/Endpoints.ts"
import { BaseUrl } from "../BaseUrl.ts"
import { route } from "../pipeline/Route.ts"
import { describe } from "./SelfDescriptions.ts"

const { endpoints } = CatalogApi

const HEALTH_TIMEOUT = Duration.seconds(2)

export const marketRoutes = Effect.gen(function* () {
  const baseUrl = yield* BaseUrl
  const accounts = yield* AccountStore
  const catalog = yield* Catalog
  const startedAt = yield* DateTime.now

  const index = route(endpoints.index, () =>
    Effect.succeed({
      status: 200,
      body: {
        name: "Agent Tool Billing",
        version: "0.3.0" as const,
        description: "Billing, metering and authentication between agents and the MCP tools they call.",
        base_url: baseUrl,
        flow: FLOW,
        endpoints: Object.fromEntries([
          ...allEndpoints().map((endpoint) => [`${endpoint.method} ${endpoint.path}`, endpoint.summary]),
          ["GET /api/openapi.json", "The whole contract as OpenAPI 3.1"],
          ["GET /docs", "The documentation, for people"],
          ["GET /verify", "A page that verifies a receipt in the browser"],
          ["GET /.well-known/agents.json", "What an agent needs to begin"]
        ]),
        auth: "Authorization: Bearer <key>; registration shows the key once",
        links: { docs: `${baseUrl}/docs`, openapi: `${baseUrl}/api/openapi.json` }
      }
    })
  )

  const health = route(
    endpoints.health,
    Effect.fnUntraced(function* () {
      const now = yield* DateTime.now
      const counted = yield* Effect.all([accounts.counts, catalog.count], { concurrency: 2 }).pipe(
        giveUpAfter(HEALTH_TIMEOUT),
        Effect.tapCause((cause) => Effect.logWarning("The health check failed", cause)),
        Effect.catchCause(() => Effect.undefined)
      )
      return {
        status: counted === undefined ? 503 : 200,
        body: {
          status: counted === undefined ? ("degraded" as const) : ("ok" as const),
          provider_count: counted?.[0].providers ?? null,
          tool_count: counted?.[1] ?? null,
          uptime_seconds: Math.floor((now.epochMilliseconds - startedAt.epochMilliseconds) / 1_000),
          timestamp: format(now)
        }
      }
    })
  )

  return [
    index,
    health,
    route(endpoints.describeRegisterProvider, () => describe("/api/market/register-provider")),
    route(endpoints.describeRegisterConsumer, () => describe("/api/market/register-consumer")),
    route(endpoints.describeTools, () => describe("/api/market/tools"))
  ]
})

/** Without waiting for the end of what is given up: a silent database takes its time to be interrupted, too. */
const giveUpAfter =
  (duration: Duration.Duration) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.flatMap(Effect.forkDetach(effect), (fiber) =>
      Fiber.join(fiber).pipe(
        Effect.timeout(duration),
        Effect.onError(() => Effect.forkDetach(Fiber.interrupt(fiber)))
      )
    )

const FLOW = [
  "1. Register: POST /api/market/register-consumer (agents) or POST /api/market/register-provider (tools)",
  "2. Find a tool and its price: GET /api/market/catalog",
  "3. Providers put tools and prices in: POST /api/market/tools"
]
