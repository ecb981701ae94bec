/**
 * The market's health over HTTP.
 */
import { DateTime, Duration, Effect } from "effect"
import { AccountStore } from "../../../domain/accounts/AccountStore.ts"
import { Catalog } from "../../../domain/catalog/Catalog.ts"
import { giveUpAfter } from "../../../domain/platform/GiveUpAfter.ts"
import { format } from "../../../domain/shared/Timestamp.ts"
import { CatalogApi } from "../api/CatalogApi.ts"
import { replyRoute } from "../pipeline/Route.ts"

const { endpoints } = CatalogApi

const HEALTH_TIMEOUT = Duration.seconds(2)

export const marketRoutes = Effect.gen(function* () {
  const accounts = yield* AccountStore
  const catalog = yield* Catalog
  const startedAt = yield* DateTime.now

  return [
    replyRoute(endpoints.health, function* () {
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
  ]
})
