/**
 * Health, counts and the schema over HTTP.
 */
import { DateTime, Duration, Effect } from "effect"
import { APPLY_MIGRATIONS, Health } from "../../../domain/platform/Health.ts"
import { PlatformStats } from "../../../domain/platform/PlatformStats.ts"
import { SchemaKeeper } from "../../../domain/platform/SchemaKeeper.ts"
import { format } from "../../../domain/shared/Timestamp.ts"
import { API_VERSION, API_VERSION_OF } from "../api/Api.ts"
import { PlatformApi } from "../api/PlatformApi.ts"
import { RateLimits } from "../pipeline/RateLimits.ts"
import { replyRoute, route } from "../pipeline/Route.ts"

const { endpoints } = PlatformApi
const INIT = "POST /api/v1/init applies the pending migrations."

/** Clients of this endpoint are not rate limited: the store is asked at most once a second. */
const READY_TTL = Duration.seconds(1)

export const platformRoutes = Effect.gen(function* () {
  const health = yield* Health
  const limits = yield* RateLimits
  const schema = yield* SchemaKeeper
  const stats = yield* PlatformStats
  const isReady = yield* Effect.cachedWithTTL(health.isReady, READY_TTL)

  return [
    replyRoute(endpoints.platformHealth, function* () {
      const report = yield* health.check([limits.probe])
      return {
        status: report.status === "down" ? 503 : 200,
        body: {
          status: report.status,
          version: API_VERSION,
          version_of: API_VERSION_OF,
          uptime_s: report.uptimeSeconds,
          timestamp: format(report.at),
          checks: Object.fromEntries(
            report.checks.map(({ latencyMs, message, name, status }) => [
              name,
              {
                status,
                latency_ms: latencyMs,
                ...(message === undefined ? {} : { message: message.replace(APPLY_MIGRATIONS, INIT) })
              }
            ])
          )
        }
      }
    }),
    route(endpoints.livez, () => Effect.succeed({ status: "ok" as const })),
    replyRoute(endpoints.readyz, () =>
      Effect.map(isReady, (ready) =>
        ready ? { status: 200, body: { status: "ok" as const } } : { status: 503, body: { status: "down" as const } }
      )
    ),
    route(endpoints.platformStats, function* () {
      const { lastDay, since, totals } = yield* stats.read
      const body = {
        totals,
        last_24h: { since: format(since), ...lastDay },
        timestamp: format(yield* DateTime.now)
      }
      return body
    }),
    route(endpoints.init, function* () {
      const { applied, tables, version } = yield* schema.bringUpToDate
      return {
        initialized: true as const,
        applied,
        schema_version: version,
        tables,
        message: applied.length === 0 ? "The schema was up to date." : `Applied ${applied.join(", ")}.`
      }
    })
  ]
})
