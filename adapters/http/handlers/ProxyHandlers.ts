/**
 * The proxy over HTTP: the hot path. The response text is written once, stored for replays and sent unchanged.
 */
import { Effect } from "effect"
import { qualifiedName } from "../../../domain/accounts/Handle.ts"
import type { CatalogEntry } from "../../../domain/catalog/CatalogStore.ts"
import { isUsagePriced, priceText } from "../../../domain/catalog/Terms.ts"
import { Metering } from "../../../domain/metering/Metering.ts"
import type { ToolProgress } from "../../../domain/metering/ToolUpstream.ts"
import { UpstreamLimits } from "../../../domain/metering/UpstreamLimits.ts"
import type { ReceiptId } from "../../../domain/shared/Ids.ts"
import { Digest } from "../../../domain/shared/Digest.ts"
import { toCents } from "../../../domain/shared/Microcents.ts"
import { CallsApi } from "../api/CallsApi.ts"
import { BaseUrl } from "../BaseUrl.ts"
import { capHeader } from "../pipeline/CapHeader.ts"
import { rejectRounded } from "../pipeline/ExactIntegers.ts"
import { idempotencyKey } from "../pipeline/IdempotencyKey.ts"
import { encodedRoute } from "../pipeline/Route.ts"
import { callResponse } from "./CallResponse.ts"
import { cancellationView, upcomingView } from "./PriceViews.ts"

export const proxyRoutes = Effect.gen(function* () {
  const metering = yield* Metering
  const baseUrl = yield* BaseUrl
  const { totalMs } = yield* UpstreamLimits
  const { sha256Hex } = yield* Digest

  return [
    encodedRoute(
      CallsApi.endpoints.proxy,
      function* ({ as, clock, notes, payload, request, requestId, sendEvent, text }) {
        const caller = as("consumer")
        yield* rejectRounded(text)
        const cap = yield* capHeader(request)
        const call = {
          consumerId: caller.ownerId,
          tool: {
            toolId: payload.tool_id,
            toolName: payload.tool_name,
            providerId: payload.provider_id,
            account: caller.ownerId
          },
          arguments: payload.input ?? payload.arguments ?? {},
          maxCost: payload.max_cost_microcents ?? cap,
          defaultCap: caller.defaultCap,
          priceVersion: payload.price_version,
          idempotency: undefined,
          onNamed: (invocationId: ReceiptId) => {
            notes.invocation_id = invocationId
          },
          onHeld: () => clock.restart(totalMs),
          provideLeave: clock.provideLeave,
          onProgress:
            sendEvent === undefined
              ? undefined
              : (progress: ToolProgress) => sendEvent({ event: "progress", data: JSON.stringify(progress) })
        }
        if (payload.dry_run === true) {
          const quote = yield* metering.quote(call)
          return { status: 200, headers: {}, body: JSON.stringify(quoteBody(quote)) }
        }
        const key = yield* idempotencyKey(request)
        // The hash is over the body as it was sent: the same call in other JSON text is another call.
        const idempotency =
          key === undefined
            ? undefined
            : { keyHash: sha256Hex(`${caller.ownerId}\n${key}`), requestHash: sha256Hex(text) }
        const outcome = yield* metering.call({ ...call, idempotency }, (report) => {
          // The provider has responded; the settlement follows.
          clock.restart(0)
          return callResponse(report, baseUrl, requestId)
        })
        return outcome._tag === "Settled"
          ? outcome.answer
          : { ...outcome.answer, headers: { ...outcome.answer.headers, "idempotent-replay": "true" } }
      },
      { late: "call" }
    )
  ]
})

/** Amounts as JSON numbers: this response is written without a schema's encoder. */
const upcomingOf = ({ prices }: CatalogEntry) => {
  const upcoming = upcomingView(prices.upcoming)
  return upcoming === null
    ? null
    : {
        ...upcoming,
        price_microcents: Number(upcoming.price_microcents),
        max_cost_microcents: Number(upcoming.max_cost_microcents)
      }
}

const quoteBody = ({
  entry,
  cost,
  hold,
  freeCallsLeft,
  availableMicrocents
}: Effect.Success<ReturnType<Metering["Service"]["quote"]>>) => ({
  dry_run: true,
  quote: {
    tool: entry.tool.displayName,
    tool_name: entry.tool.toolName,
    qualified_name: qualifiedName(entry.provider.handle, entry.tool.toolName),
    tool_id: entry.tool.id,
    provider: entry.provider.name,
    provider_id: entry.provider.id,
    price_microcents: Number(entry.price),
    price_cents: toCents(entry.price),
    price: priceText(entry),
    max_cost_microcents: Number(entry.maximum),
    usage_priced: isUsagePriced(entry),
    price_version: entry.priceVersion,
    billing_policy: entry.billingPolicy,
    ...cancellationView(entry),
    free_tier_calls: entry.freeTierCalls,
    upcoming: upcomingOf(entry),
    cost_microcents: Number(cost),
    hold_microcents: Number(hold),
    free_tier_remaining: freeCallsLeft ?? null,
    balance_microcents: Number(availableMicrocents),
    balance_after_microcents: Number(availableMicrocents - cost),
    sufficient_funds: availableMicrocents >= hold
  }
})
