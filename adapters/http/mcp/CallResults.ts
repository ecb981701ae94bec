/**
 * What a caller gets of a finished call: the provider's own result with what it cost, the provider's JSON-RPC error, or, where
 * neither came, a result that says why.
 */
import { withMeta } from "../../../domain/mcp/PassedResults.ts"
import type { CallReport } from "../../../domain/metering/Call.ts"
import type { KeptResult } from "../../../domain/metering/CallStore.ts"
import { enderOf } from "../../../domain/receipts/Receipts.ts"
import { formatPrice } from "../../../domain/shared/Microcents.ts"
import { BILLING_META } from "../../../domain/upstream/Protocol.ts"
import type { UpstreamProblem, UpstreamResponse } from "../../../domain/upstream/ToolUpstream.ts"
import { problemOfKind } from "../metering/Proxy.ts"
import { retryAfter } from "./CallRefusals.ts"
import { type DoorAnswer, errorAnswer } from "./RpcReply.ts"

/** The statuses of stored responses: only these two. */
const RESULT = 200
const ERROR = 500

/** Without the request's id, which differs when the call is repeated. */
export const callResult = (report: CallReport): KeptResult => {
  const { problem, result, status } = report.answer
  const headers = headersOf(report)
  if (status === "success" || (problem === undefined && result !== undefined)) {
    return { status: RESULT, headers, body: withBilling(resultText(report.answer), billingOf(report)) }
  }
  const error = problem?.rpcError
  return error === undefined
    ? { status: RESULT, headers, body: failedResult(report, problem) }
    : { status: ERROR, headers, body: JSON.stringify(error) }
}

/** A stored response as the answer to this request. */
export const answerOf = ({ body, status }: KeptResult): DoorAnswer =>
  status === ERROR ? errorAnswer(body) : { _tag: "Result", result: body }

const resultText = ({ result, resultText: text }: UpstreamResponse): string => text ?? JSON.stringify(result)

const withBilling = (result: string, billing: object): string =>
  withMeta(result, { [BILLING_META]: JSON.stringify(billing) })

const billingOf = ({ answer, availableMicrocents, freeCallsLeft, receipt }: CallReport) => ({
  cost_microcents: Number(receipt.cost_microcents),
  receipt_id: receipt.receipt_id,
  remaining_balance_microcents: Number(availableMicrocents),
  free_tier_remaining: freeCallsLeft ?? null,
  latency_ms: answer.latencyMs
})

const headersOf = ({ answer, receipt }: CallReport): Readonly<Record<string, string>> => ({
  "x-market-cost": String(receipt.cost_microcents),
  "x-market-receipt": receipt.receipt_id,
  "x-market-latency": String(answer.latencyMs)
})

const failedResult = (report: CallReport, problem: UpstreamProblem | undefined): string => {
  const { receipt } = report
  const { code, retryable } = failureOf(report.answer)
  const retryAfterSeconds = problem?.retryAfterSeconds
  const charged = receipt.cost_microcents > 0n
  const message = sentence(problem?.message ?? "The provider gave no result")
  const text = [
    message,
    charged
      ? `The call costs ${formatPrice(receipt.cost_microcents)}, as the tool's billing policy says.`
      : "Nothing was charged.",
    `Receipt: ${receipt.receipt_id}.`,
    ...(retryAfterSeconds === undefined ? [] : retryAfter(message, retryAfterSeconds))
  ].join(" ")
  const billing = {
    ...billingOf(report),
    code,
    charged,
    retryable,
    retry_after_ms: retryAfterSeconds === undefined ? null : Math.max(1, retryAfterSeconds) * 1_000
  }
  return withBilling(JSON.stringify({ content: [{ type: "text", text }], isError: true }), billing)
}

const sentence = (text: string): string => (/[.!?]$/u.test(text) ? text : `${text}.`)

/** Codes of the REST API. Only what the provider did not begin is retryable without a risk of doing it twice. */
const failureOf = (answer: UpstreamResponse) => {
  const { attempts, problem, status } = answer
  const kind = problem?.kind
  if (status === "timeout") return { code: "PROXY_TIMEOUT", retryable: false }
  const { code } = problemOfKind[kind ?? "malformed_answer"]
  if (code === "UNAVAILABLE") return { code, retryable: true }
  if (enderOf(answer) === "service") return { code: "UNAVAILABLE", retryable: attempts === 0 }
  if (code === "BLOCKED_ENDPOINT") return { code, retryable: false }
  return { code, retryable: kind === "rate_limited" || attempts === 0 }
}
