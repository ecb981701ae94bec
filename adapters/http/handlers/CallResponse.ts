/**
 * The response of a finished call: the provider's own result with its cost, or a problem, with the same headers either way.
 * A result with `isError` is a response of the tool: a client that got a 5xx for it would retry the call.
 */
import type { CallReport } from "../../../domain/metering/Call.ts"
import type { KeptResult } from "../../../domain/metering/CallStore.ts"
import type { UpstreamResponse } from "../../../domain/metering/ToolUpstream.ts"
import { formatPrice, toCents } from "../../../domain/shared/Microcents.ts"
import type { ProblemCode, ProblemStatus } from "../api/Problem.ts"
import { problemType, titles } from "../api/Problem.ts"

export const callResponse = (report: CallReport, baseUrl: string, requestId: string): KeptResult =>
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
      instance: "/api/market/proxy",
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
  if (answer.problem?.kind === "circuit_open" || answer.problem?.kind === "overloaded") {
    return { status: 503, code: "UNAVAILABLE" }
  }
  if (answer.problem?.kind === "blocked_endpoint") return { status: 422, code: "BLOCKED_ENDPOINT" }
  return { status: 502, code: "PROVIDER_ERROR" }
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
export const headerText = (text: string): string =>
  /^[\x20-\x24\x26-\x7e]*$/u.test(text) ? text.trim() : encodeURIComponent(text.toWellFormed()).replaceAll("%20", " ")
