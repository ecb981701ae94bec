/**
 * Grants over HTTP.
 */
import { DateTime, Effect } from "effect"
import { type Grant, isLive, spentNow } from "../../../domain/metering/Grant.ts"
import { Grants } from "../../../domain/metering/Grants.ts"
import type { ConsumerId, GrantId } from "../../../domain/shared/Ids.ts"
import { Microcents } from "../../../domain/shared/Microcents.ts"
import { format } from "../../../domain/shared/Timestamp.ts"
import { MeteringApi } from "../api/MeteringApi.ts"
import { route } from "../pipeline/Route.ts"

const { endpoints } = MeteringApi

export const grantsRoutes = Effect.gen(function* () {
  const grants = yield* Grants

  const revoke = Effect.fnUntraced(function* (consumerId: ConsumerId, id: GrantId) {
    const grant = yield* grants.revoke(consumerId, id)
    return { revoked: true as const, grant: show(grant, yield* DateTime.now) }
  })

  return [
    route(endpoints.listGrants, function* ({ as }) {
      const given = yield* grants.list(as("consumer").ownerId)
      const now = yield* DateTime.now
      return { grants: given.map((grant) => show(grant, now)), total: given.length }
    }),
    route(endpoints.giveGrant, function* ({ as, payload }) {
      const grant = yield* grants.give(as("consumer").ownerId, {
        providerId: payload.provider_id,
        toolIds: payload.tool_ids ?? [],
        cap: payload.cap_microcents,
        period: payload.period ?? "month",
        expiresAt: payload.expires_at
      })
      return { grant: show(grant, yield* DateTime.now) }
    }),
    route(endpoints.revokeGrant, ({ as, params }) => revoke(as("consumer").ownerId, params.grant_id)),
    route(endpoints.revokeGrantByQuery, ({ as, query }) => revoke(as("consumer").ownerId, query.grant_id))
  ]
})

const show = (grant: Grant, now: DateTime.Utc) => ({
  grant_id: grant.id,
  provider_id: grant.providerId,
  tool_ids: grant.toolIds,
  cap_microcents: grant.cap,
  spent_microcents: Microcents.make(spentNow(grant, now)),
  period: grant.period,
  status:
    grant.revokedAt !== undefined
      ? ("revoked" as const)
      : isLive(grant, now)
        ? ("active" as const)
        : ("expired" as const),
  created_at: format(grant.createdAt),
  expires_at: grant.expiresAt === undefined ? null : format(grant.expiresAt),
  revoked_at: grant.revokedAt === undefined ? null : format(grant.revokedAt)
})
