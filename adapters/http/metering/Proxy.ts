/**
 * Calls and quotes through the proxy: the hot path. Usual bodies are decoded without their schema. The response text is
 * written once, stored for replays and sent unchanged.
 */
import { Effect } from "effect"
import { qualifiedName } from "../../../domain/accounts/Handle.ts"
import { idempotencyScope } from "../../../domain/accounts/Levels.ts"
import type { CatalogEntry } from "../../../domain/catalog/CatalogStore.ts"
import { isUsagePriced, priceText } from "../../../domain/catalog/Terms.ts"
import { TOOL_NAME_SENT } from "../../../domain/catalog/Tool.ts"
import type { CallQuote, CallReport } from "../../../domain/metering/Call.ts"
import type { KeptResult } from "../../../domain/metering/CallStore.ts"
import { UpstreamLimits } from "../../../domain/metering/CallTerms.ts"
import { Metering } from "../../../domain/metering/Metering.ts"
import { Digest } from "../../../domain/shared/Cryptography.ts"
import { type ReceiptId, uuid } from "../../../domain/shared/Ids.ts"
import { isObject } from "../../../domain/shared/JsonText.ts"
import { formatPrice, toCents } from "../../../domain/shared/Microcents.ts"
import type { ToolProgress, UpstreamResponse } from "../../../domain/upstream/ToolUpstream.ts"
import { cancellationView, upcomingView } from "../catalog/ToolViews.ts"
import { BaseUrl, prefixOf } from "../contract/BaseUrl.ts"
import { type ProblemCode, type ProblemStatus, problemType, titles } from "../contract/Problem.ts"
import { type Decoding, rejectRounded } from "../pipeline/Decoding.ts"
import { routesWith, type TypeOf } from "../pipeline/Route.ts"
import { callCap, idempotencyKey } from "../pipeline/WebRequest.ts"
import { callProblems, problemOfKind } from "./CallProblems.ts"
import { CallsApi } from "./CallsApi.ts"

const { encodedRoute } = routesWith(callProblems)

// The bodies of most calls, without their schema. The schema reads and copies every value of the arguments, which are JSON
// already: for large ones that takes longer than the rest of the call. Whatever is unusual or wrong is left to the schema.

type ProxyCall = TypeOf<(typeof CallsApi.endpoints.proxy)["~Payload"]>

const matching = (form: RegExp) => (value: unknown) => typeof value === "string" && form.test(value)

const USUAL = new Map<string, (value: unknown) => boolean>([
  ["tool_id", matching(uuid)],
  ["tool_name", matching(TOOL_NAME_SENT)],
  ["provider_id", matching(uuid)],
  ["input", isObject],
  ["arguments", isObject]
])

/** The decoded body, from parsed JSON. Undefined: the schema decides. */
export const usualCall = (body: unknown): ProxyCall | undefined => {
  if (!isObject(body)) return undefined
  for (const name of Object.keys(body)) if (USUAL.get(name)?.(body[name]) !== true) return undefined
  const isNamed = Object.hasOwn(body, "tool_id") || Object.hasOwn(body, "tool_name")
  const hasTwoInputs = Object.hasOwn(body, "input") && Object.hasOwn(body, "arguments")
  return isNamed && !hasTwoInputs ? (body as ProxyCall) : undefined
}

/** Objects of any JSON. */
const OPEN = ["input", "arguments", "metadata"] as const

/** Decodes usual calls here, and others by their schema, which does not see what their open objects contain. */
export const decodingUsual =
  (bySchema: Decoding["decodePayload"]): Decoding["decodePayload"] =>
  (body) => {
    const usual = usualCall(body)
    if (usual !== undefined) return Effect.succeed(usual)
    if (!isObject(body)) return bySchema(body)
    const open = OPEN.filter((name) => Object.hasOwn(body, name) && isObject(body[name]))
    const withEach = (valueOf: (name: string) => unknown) =>
      Object.fromEntries(open.map((name) => [name, valueOf(name)]))
    return Effect.map(bySchema({ ...body, ...withEach(() => ({})) }), (call) => ({
      ...(call as object),
      ...withEach((name) => body[name])
    }))
  }

export const proxyRoutes = Effect.gen(function* () {
  const metering = yield* Metering
  const baseUrl = yield* BaseUrl
  const { totalMs } = yield* UpstreamLimits
  const { sha256Hex } = yield* Digest

  const proxy = encodedRoute(
    CallsApi.endpoints.proxy,
    function* ({ as, clock, notes, payload, request, requestId, sendEvent, text }) {
      const caller = as("consumer")
      yield* rejectRounded(text)
      const maxCost = yield* callCap(request, payload.max_cost_microcents)
      const key = payload.dry_run === true ? undefined : yield* idempotencyKey(request)
      const call = {
        consumerId: caller.ownerId,
        tool: {
          toolId: payload.tool_id,
          toolName: payload.tool_name,
          providerId: payload.provider_id,
          account: caller.ownerId
        },
        arguments: payload.input ?? payload.arguments ?? {},
        maxCost,
        defaultCap: caller.defaultCap,
        levels: caller.levels,
        priceVersion: payload.price_version,
        // The hash is over the body as it was sent: the same call in other JSON text is another call.
        idempotency:
          key === undefined
            ? undefined
            : { keyHash: sha256Hex(`${idempotencyScope(caller)}\n${key}`), requestHash: sha256Hex(text) },
        requestId,
        onReceiptId: (invocationId: ReceiptId) => {
          notes.invocation_id = invocationId
        },
        onHeld: () => clock.restart(totalMs),
        onWait: clock.restart,
        registerDisconnect: clock.registerDisconnect,
        onProgress:
          sendEvent === undefined
            ? undefined
            : (progress: ToolProgress) => sendEvent({ event: "progress", data: JSON.stringify(progress) })
      }
      if (payload.dry_run === true) {
        const quote = yield* metering.quote(call)
        return { status: 200, headers: {}, body: JSON.stringify(quoteBody(quote)) }
      }
      const outcome = yield* metering.call(call, (report) => {
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
  return [{ ...proxy, decodePayload: decodingUsual(proxy.decodePayload) }]
})

/** Amounts as JSON numbers: this response is written without a schema's encoder. */
const upcomingOf = ({ prices }: CatalogEntry) => {
  const upcoming = upcomingView(prices)
  return upcoming === null
    ? null
    : {
        ...upcoming,
        price_microcents: Number(upcoming.price_microcents),
        max_cost_microcents: Number(upcoming.max_cost_microcents)
      }
}

const quoteBody = ({ availableMicrocents, cost, entry, freeCallsLeft, hold }: CallQuote) => ({
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

/**
 * The response of a finished call: the provider's own result with its cost, or a problem, with the same headers either way.
 * A result with `isError` is a response of the tool: a client that got a 5xx for it would retry the call.
 */
const callResponse = (report: CallReport, baseUrl: string, requestId: string): KeptResult =>
  hasResult(report.answer) ? delivered(report, baseUrl) : undelivered(report, baseUrl, requestId)

const hasResult = ({ problem, result, status }: UpstreamResponse): boolean =>
  status === "success" || (problem === undefined && result !== undefined)

const delivered = (report: CallReport, baseUrl: string): KeptResult => ({
  status: 200,
  headers: callHeaders(report, baseUrl),
  body: `{"result":${resultText(report)},"meta":${JSON.stringify(meta(report))}}`
})

const undelivered = (report: CallReport, baseUrl: string, requestId: string): KeptResult => {
  const { status, code } = problemCode(report)
  const problem = report.answer.problem
  const message = problem?.message ?? "The provider gave no result."
  const retryAfterSeconds =
    problem?.retryAfterSeconds === undefined ? undefined : Math.max(1, problem.retryAfterSeconds)
  return {
    status,
    headers: {
      ...callHeaders(report, baseUrl),
      "content-type": "application/problem+json",
      // The body contains the id of the request that made the call; a replay contains the same.
      "x-request-id": requestId,
      ...(retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) })
    },
    body: JSON.stringify({
      type: problemType(baseUrl, code),
      title: titles[status],
      status,
      detail: message,
      instance: `${prefixOf(baseUrl)}/api/market/proxy`,
      error: true,
      code,
      message,
      request_id: requestId,
      outcome: report.answer.status,
      tool: report.entry.tool.toolName,
      provider: report.entry.provider.name,
      latency_ms: report.answer.latencyMs,
      attempts: report.answer.attempts,
      cost_cents: toCents(report.receipt.cost_microcents),
      cost_microcents: Number(report.receipt.cost_microcents),
      receipt_id: report.receipt.receipt_id,
      ...(retryAfterSeconds === undefined ? {} : { retry_after_seconds: retryAfterSeconds }),
      ...(problem === undefined ? {} : { problem: problem.kind }),
      ...(problem?.rpcError === undefined ? {} : { provider_error: problem.rpcError }),
      ...(problem?.httpStatus === undefined ? {} : { provider_status: problem.httpStatus })
    })
  }
}

/** Verbatim, where the provider's text is known. */
const resultText = ({ answer }: CallReport): string => answer.resultText ?? JSON.stringify(answer.result)

const problemCode = ({ answer }: CallReport): { readonly status: ProblemStatus; readonly code: ProblemCode } => {
  if (answer.status === "timeout") return { status: 504, code: "PROXY_TIMEOUT" }
  return problemOfKind[answer.problem?.kind ?? "malformed_answer"]
}

const meta = (report: CallReport) => {
  const { entry, receipt, answer } = report
  return {
    tool: entry.tool.displayName,
    tool_name: entry.tool.toolName,
    tool_id: entry.tool.id,
    provider: entry.provider.name,
    provider_id: entry.provider.id,
    cost_cents: toCents(receipt.cost_microcents),
    cost_microcents: Number(receipt.cost_microcents),
    cost: formatPrice(receipt.cost_microcents),
    latency_ms: answer.latencyMs,
    remaining_balance_cents: toCents(report.availableMicrocents),
    remaining_balance_microcents: Number(report.availableMicrocents),
    free_tier_remaining: report.freeCallsLeft ?? null,
    receipt_id: receipt.receipt_id,
    invocation_id: receipt.receipt_id,
    attempts: answer.attempts,
    outcome: answer.status
  }
}

const callHeaders = ({ entry, receipt, answer }: CallReport, baseUrl: string): Readonly<Record<string, string>> => ({
  "x-market-cost": String(receipt.cost_microcents),
  "x-market-provider": headerText(entry.provider.name),
  "x-market-latency": String(answer.latencyMs),
  "x-market-tool": entry.tool.toolName,
  "x-market-receipt": receipt.receipt_id,
  link: `<${baseUrl}/api/v1/market/receipts/${receipt.receipt_id}>; rel="receipt"`,
  ...(answer.attempts > 1 ? { "x-market-retried": "true" } : {})
})

/** Printable ASCII is kept; other characters of a provider's name are percent-encoded. */
const headerText = (text: string): string =>
  /^[\x20-\x24\x26-\x7e]*$/u.test(text) ? text.trim() : encodeURIComponent(text.toWellFormed()).replaceAll("%20", " ")
