/**
 * Reports of calls outside the proxy, and the grants that permit them, over HTTP.
 */
import { DateTime, Effect } from "effect"
import { idempotencyScope } from "../../../domain/accounts/Levels.ts"
import type { CallIdempotency, KeptResult } from "../../../domain/metering/CallStore.ts"
import type { Metered } from "../../../domain/metering/DirectMetering.ts"
import { type Grant, Grants, isActive, spentNow } from "../../../domain/metering/Grants.ts"
import { Metering } from "../../../domain/metering/Metering.ts"
import { Digest } from "../../../domain/shared/Cryptography.ts"
import type { ConsumerId, GrantId } from "../../../domain/shared/Ids.ts"
import { Microcents, toCents } from "../../../domain/shared/Microcents.ts"
import type { CallStatus } from "../../../domain/upstream/ToolUpstream.ts"
import { BaseUrl } from "../contract/BaseUrl.ts"
import { forbidden, invalid, invalidField, notFound, type ProblemsOf } from "../pipeline/Problems.ts"
import { routesWith } from "../pipeline/Route.ts"
import { fieldsOf } from "../pipeline/Views.ts"
import { idempotencyKey } from "../pipeline/WebRequest.ts"
import { callProblems } from "./CallProblems.ts"
import { type MeteredCall, type MeteredEvent, MeteringApi } from "./MeteringApi.ts"

const meteringProblems = {
  ...callProblems,
  CallTimeRejected: invalidField("timestamp"),
  CostTooHigh: invalidField("cost_microcents"),
  GrantNotFound: notFound("GET /api/v1/market/grants lists yours."),
  NoGrant: (e) => ({
    status: 403,
    code: "FORBIDDEN",
    ...(e.reason === "none" ? { hint: "The consumer gives one with POST /api/v1/market/grants." } : {})
  }),
  NotYours: forbidden(),
  TooManyGrants: invalid(),
  UnknownProvider: invalidField("provider_id")
} satisfies ProblemsOf<Metering | Grants>

const { encodedRoute, route } = routesWith(meteringProblems)

const { endpoints } = MeteringApi

export const meteringRoutes = Effect.gen(function* () {
  const metering = yield* Metering
  const grants = yield* Grants
  const baseUrl = yield* BaseUrl
  const { sha256Hex } = yield* Digest

  const revoke = Effect.fnUntraced(function* (consumerId: ConsumerId, id: GrantId) {
    const grant = yield* grants.revoke(consumerId, id)
    return { revoked: true as const, grant: grantView(grant, yield* DateTime.now) }
  })

  return [
    encodedRoute(endpoints.meter, function* ({ as, notes, payload, request, requestId, text }) {
      const caller = as("consumer", "provider")
      const call = "data" in payload ? payload.data : payload
      const key = (yield* idempotencyKey(request)) ?? ("data" in payload ? eventKey(payload) : undefined)
      const idempotency: CallIdempotency | undefined =
        key === undefined
          ? undefined
          : {
              keyHash: sha256Hex(`${caller.role}\n${idempotencyScope(caller)}\nmeter\n${key}`),
              requestHash: sha256Hex(text)
            }
      const outcome = yield* metering.record(
        {
          caller,
          tool: {
            toolId: call.tool_id,
            toolName: call.tool_name,
            providerId: call.provider_id ?? (caller.role === "provider" ? caller.ownerId : undefined),
            account: caller.role === "consumer" ? caller.ownerId : undefined
          },
          consumerId: call.consumer_id ?? call.agent_id,
          status: statusOf(call),
          durationMs: call.duration_ms ?? 0,
          tokensInput: call.input_tokens ?? 0,
          tokensOutput: call.output_tokens ?? (call.input_tokens === undefined ? (call.tokens_used ?? 0) : 0),
          cost: call.cost_microcents,
          calledAt: call.timestamp,
          idempotency,
          requestId,
          onReceiptId: (invocationId) => {
            notes.invocation_id = invocationId
          }
        },
        (metered) => answerOf(metered, baseUrl)
      )
      return outcome._tag === "Recorded"
        ? outcome.answer
        : { ...outcome.answer, headers: { ...outcome.answer.headers, "idempotent-replay": "true" } }
    }),
    route(endpoints.listGrants, function* ({ as }) {
      const given = yield* grants.list(as("consumer").ownerId)
      const now = yield* DateTime.now
      return { grants: given.map((grant) => grantView(grant, now)), total: given.length }
    }),
    route(endpoints.giveGrant, function* ({ as, payload }) {
      const grant = yield* grants.create(as("consumer").ownerId, {
        providerId: payload.provider_id,
        toolIds: payload.tool_ids ?? [],
        cap: payload.cap_microcents,
        period: payload.period ?? "month",
        expiresAt: payload.expires_at
      })
      return { grant: grantView(grant, yield* DateTime.now) }
    }),
    route(endpoints.revokeGrant, ({ as, params }) => revoke(as("consumer").ownerId, params.grant_id)),
    route(endpoints.revokeGrantByQuery, ({ as, query }) => revoke(as("consumer").ownerId, query.grant_id))
  ]
})

const grantView = (grant: Grant, now: DateTime.Utc) => ({
  grant_id: grant.id,
  provider_id: grant.providerId,
  tool_ids: grant.toolIds,
  cap_microcents: grant.cap,
  spent_microcents: Microcents.make(spentNow(grant, now)),
  period: grant.period,
  status:
    grant.revokedAt !== undefined
      ? ("revoked" as const)
      : isActive(grant, now)
        ? ("active" as const)
        : ("expired" as const),
  ...fieldsOf(grant, "createdAt", "expiresAt", "revokedAt")
})

/**
 * A line break in source or id makes the plain form ambiguous, so such an event gets its JSON as key. All others keep the
 * plain form, because their keys may be stored already.
 */
const eventKey = ({ id, source }: typeof MeteredEvent.Type): string =>
  `cloudevent\n${`${source}${id}`.includes("\n") ? JSON.stringify([source, id]) : `${source}\n${id}`}`

const statusOf = (call: typeof MeteredCall.Type): CallStatus =>
  call.status ?? (call.success === false ? "error" : "success")

const answerOf = ({ receipt }: Metered, baseUrl: string): KeptResult => {
  const shown = { ...receipt, cost_microcents: Number(receipt.cost_microcents) }
  const url = `${baseUrl}/api/v1/market/receipts/${receipt.receipt_id}`
  return {
    status: 201,
    headers: { "x-market-receipt": receipt.receipt_id, link: `<${url}>; rel="receipt"` },
    body: JSON.stringify({
      metered: true,
      recorded: true,
      invocation_id: receipt.receipt_id,
      tool_id: receipt.tool_id,
      tool_name: receipt.tool_name,
      agent_id: receipt.agent_id,
      provider_id: receipt.provider_id,
      cost_microcents: shown.cost_microcents,
      cost_cents: toCents(receipt.cost_microcents),
      status: receipt.status,
      timestamp: receipt.timestamp,
      receipt: { ...shown, verify_url: `${baseUrl}/api/v1/verify` }
    })
  }
}
