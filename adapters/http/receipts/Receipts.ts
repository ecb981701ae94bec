/**
 * Receipts over HTTP.
 */
import { Clock, DateTime, Effect, Option, Schema } from "effect"
import { RECEIPT_ALGORITHM, Receipts, ReceiptStore } from "../../../domain/receipts/Receipts.ts"
import { format, formatMs } from "../../../domain/shared/Time.ts"
import { BaseUrl } from "../contract/BaseUrl.ts"
import { pageFields, pageRequest } from "../pipeline/Decoding.ts"
import { NotFound } from "../pipeline/Failures.ts"
import { notConfigured, type ProblemsOf } from "../pipeline/Problems.ts"
import { routesWith } from "../pipeline/Route.ts"
import { ReceiptsApi } from "./ReceiptsApi.ts"

const receiptProblems = {
  ReceiptArchived: notConfigured("Ask the operator for the archive of this month.")
} satisfies ProblemsOf<ReceiptStore>

const { encodedRoute, replyRoute, route } = routesWith(receiptProblems)

const { endpoints } = ReceiptsApi

const NO_HEADERS: Readonly<Record<string, string>> = {}
const VERIFY_BODY = { bytesMax: 65_536, depthMax: 2_000, anyText: true, emptyIsObject: false }

export const receiptsRoutes = Effect.gen(function* () {
  const receipts = yield* Receipts
  const store = yield* ReceiptStore
  const baseUrl = yield* BaseUrl

  return [
    route(endpoints.list, function* ({ as, query }) {
      const page = yield* pageRequest("receipts", query)
      const found = yield* receipts.list(
        as("consumer", "provider"),
        {
          toolId: query.tool_id,
          status: query.status,
          from: query.from === undefined ? undefined : format(query.from),
          to: query.to === undefined ? undefined : format(query.to)
        },
        page
      )
      const archivedBefore = yield* store.archivedBefore
      return {
        receipts: found.items,
        ...pageFields("receipts", page, found),
        ...(archivedBefore === undefined ? {} : { archived_before: archivedBefore })
      }
    }),
    replyRoute(endpoints.find, function* ({ params }) {
      const recent = yield* receipts.find(params.id)
      const found = Option.isSome(recent) ? recent : yield* store.findArchived(params.id)
      if (Option.isNone(found)) return yield* new NotFound({ what: `Receipt ${params.id}` })
      const { valid } = yield* receipts.verify(found.value)
      return {
        status: 200,
        headers: { link: `<${baseUrl}/api/v1/market/receipts/${params.id}/proof>; rel="describedby"` },
        body: {
          receipt: found.value,
          verification: {
            valid,
            algorithm: RECEIPT_ALGORITHM,
            verified_at: format(yield* DateTime.now)
          }
        }
      }
    }),
    route(endpoints.call, function* ({ as, params }) {
      const { ownerId, role } = as("consumer", "provider")
      const found = Option.getOrUndefined(yield* receipts.find(params.id))
      if (found === undefined || ownerId !== (role === "consumer" ? found.agent_id : found.provider_id)) {
        return yield* new NotFound({ what: `Call ${params.id}` })
      }
      const { cause, holdMs, requestId } = Option.getOrThrow(yield* store.settledOf(params.id))
      return {
        receipt_id: params.id,
        // The consumer chooses it: it may name what is none of the provider's business.
        request_id: ownerId === found.agent_id ? (requestId ?? null) : null,
        cause: cause ?? null,
        stages: {
          hold_ms: holdMs ?? null,
          provider_ms: found.duration_ms,
          signed_after_ms:
            holdMs === undefined ? null : Math.max(0, Date.parse(found.created_at) - Date.parse(found.timestamp))
        }
      }
    }),
    /**
     * Written without a schema's encoder for speed: existing clients verify many receipts. Tests compare it with the contract.
     */
    encodedRoute(
      endpoints.verify,
      function* ({ payload }) {
        const candidate = unwrap(payload)
        const verdict = yield* receipts.verify(candidate)
        return {
          status: 200,
          headers: NO_HEADERS,
          body:
            `{"receipt":${JSON.stringify(candidate)},"verification":{"valid":${verdict.valid},"reason":"${verdict.reason}",` +
            (verdict.missing === undefined ? "" : `"missing":${JSON.stringify(verdict.missing)},`) +
            `"checked":{"canonical":${JSON.stringify(verdict.canonical)},"algorithm":"${RECEIPT_ALGORITHM}"},` +
            `"verified_at":"${formatMs(yield* Clock.currentTimeMillis)}"}}`
        }
      },
      {
        // Any JSON value: it was parsed from text.
        lenientPayload: Schema.Any,
        body: VERIFY_BODY,
        compatibility: {
          badRequest: `{"error":true,"code":"BAD_REQUEST"}`,
          otherMethods: {
            status: 405,
            headers: {
              allow: "POST, OPTIONS",
              "access-control-allow-methods": "POST, OPTIONS",
              "cache-control": "no-store"
            },
            body: ""
          }
        }
      }
    )
  ]
})

/** A bare receipt, or one inside `{receipt}`. */
const unwrap = <A>(body: A): A =>
  typeof body === "object" && body !== null && "receipt" in body && !("receipt_id" in body) ? (body.receipt as A) : body
