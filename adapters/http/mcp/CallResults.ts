/**
 * The response to a finished call: the provider's own result with what it cost, the provider's JSON-RPC error, or,
 * where neither came, a result that says why. A rejected call has a result too, which a model can act on: an HTTP
 * status would reach it as a broken transport.
 */
import { withMeta } from "../../../domain/mcp/PassedResults.ts"
import type { CallReport } from "../../../domain/metering/Call.ts"
import type { KeptResult } from "../../../domain/metering/CallStore.ts"
import { enderOf } from "../../../domain/receipts/Receipts.ts"
import { formatPrice } from "../../../domain/shared/Microcents.ts"
import { inSeconds } from "../../../domain/shared/Time.ts"
import { BILLING_META, MAX_COST_META } from "../../../domain/upstream/Protocol.ts"
import type { UpstreamProblem, UpstreamResponse } from "../../../domain/upstream/ToolUpstream.ts"
import { defaultCapPage, pageUrl } from "../contract/BaseUrl.ts"
import { type HandlerError, problemOf, problemOfKind } from "../metering/CallProblems.ts"
import type { Door } from "./Door.ts"
import { type DoorAnswer, errorAnswer } from "./RpcMessages.ts"

/** The statuses of stored responses: only these two. */
const RESULT = 200
const ERROR = 500

/** Omits the request's id, which differs when the call is repeated. */
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

// Rejected calls.

export interface Refusal {
  readonly text: string
  readonly billing: Readonly<Record<string, unknown>>
}

/** `structured`: whether the result may have `structuredContent`, which clients check against a tool's output schema. */
export const refusalResult = ({ billing, text }: Refusal, structured: boolean): string =>
  withMeta(
    JSON.stringify({
      content: [{ type: "text", text }],
      ...(structured ? { structuredContent: { message: text, ...billing } } : {}),
      isError: true
    }),
    { [BILLING_META]: JSON.stringify(billing) }
  )

/** What the caller can do depends on the door. */
interface RefusedAt extends Pick<Door, "callTool"> {
  readonly baseUrl: string
}

export const refusalOf = (error: HandlerError, at: RefusedAt, nowMs: number): Refusal => {
  const { baseUrl } = at
  const problem = problemOf(error, baseUrl)
  const extra = problem.extra ?? {}
  const retryAfterMs = retryAfterOf(error, extra, nowMs)
  const message = wordsOf(error, at) ?? problem.message
  const billing = {
    code: problem.code,
    charged: isCharged(error),
    retryable: retryAfterMs !== undefined,
    retry_after_ms: retryAfterMs ?? null,
    price_microcents: extra["price_microcents"] ?? extra["cost_microcents"] ?? null,
    remaining_balance_microcents: extra["balance_microcents"] ?? null,
    load_balance_url: `${baseUrl}/api/market/balance/load`,
    ...extrasOf(extra)
  }
  return { text: [message, ...charge(error, message), ...advice(error, message, retryAfterMs)].join(" "), billing }
}

/** The call was made, and its response is not stored. */
const isCharged = (error: HandlerError): boolean => error._tag === "ResultNotRetained" && error.costMicrocents > 0n

const charge = (error: HandlerError, message: string): ReadonlyArray<string> =>
  isCharged(error) || /nothing (?:was|is) charged/iu.test(message) ? [] : ["Nothing was charged."]

const advice = (error: HandlerError, message: string, retryAfterMs: number | undefined): ReadonlyArray<string> => {
  if (retryAfterMs !== undefined) return retryAfter(message, Math.ceil(retryAfterMs / 1_000))
  return NEEDS_FUNDS.has(error._tag) ? ["Do not repeat the call before that."] : []
}

/** Returns nothing if the message already says it. */
const retryAfter = (message: string, seconds: number): ReadonlyArray<string> =>
  message.includes("Retry after") ? [] : [`Retry after ${inSeconds(Math.max(1, seconds))}.`]

const NEEDS_FUNDS: ReadonlySet<string> = new Set(["InsufficientFunds", "BudgetExceeded", "AccountFrozen"])

/** Returns the time after which the same call may succeed; undefined if waiting alone does not help. */
const retryAfterOf = (
  error: HandlerError,
  extra: Readonly<Record<string, unknown>>,
  nowMs: number
): number | undefined => {
  if (error._tag === "BudgetExceeded") {
    return error.resetsAt === undefined ? undefined : Math.max(1_000, Date.parse(error.resetsAt) - nowMs)
  }
  const seconds = extra["retry_after_seconds"]
  return typeof seconds === "number" ? seconds * 1_000 : undefined
}

const OWN: ReadonlySet<string> = new Set([
  "cost_microcents",
  "cost_cents",
  "balance_microcents",
  "balance_cents",
  "retry_after_seconds",
  "price_microcents",
  "load_balance_url"
])

const extrasOf = (extra: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(extra).filter(([name]) => !OWN.has(name)))

/** People open it; agents that pay by themselves use `load_balance_url`. */
export const addFundsPage = (baseUrl: string): string => pageUrl(baseUrl, "/developer/funds")

/** Adds what a client of MCP can do; undefined where the message of the HTTP API applies. */
const wordsOf = (error: HandlerError, { baseUrl, callTool }: RefusedAt): string | undefined => {
  const addFunds = `Add funds at ${addFundsPage(baseUrl)}.`
  switch (error._tag) {
    case "BudgetExceeded":
      return error.message
    case "PriceChanged":
      return `${error.message} Raise the cap to make the call: ${callTool === undefined ? "" : `\`max_cost_microcents\` of \`${callTool}\`, or `}what your user set in the client or at ${defaultCapPage(baseUrl)}.`
    case "CapRequired":
      return [
        error.message,
        callTool === undefined
          ? `Your client can send \`_meta["${MAX_COST_META}"]\` with the call, or the header \`X-Max-Cost-Microcents\`.`
          : `Call \`${callTool}\` with \`tool\`: "${error.toolName}", the same \`arguments\`, and \`max_cost_microcents\`: ${error.maxCostMicrocents}, or less to pay less.`,
        `For all calls, your user sets a default cap at ${defaultCapPage(baseUrl)}.`
      ].join(" ")
    case "InsufficientFunds":
    case "AccountFrozen":
      return `${error.message} ${addFunds}`
    case "InvalidArguments":
      return `The arguments do not match the tool's input schema: ${violations(error.violations)}`
    default:
      return undefined
  }
}

const VIOLATIONS_SHOWN_MAX = 10

const violations = (all: ReadonlyArray<{ readonly path: ReadonlyArray<string>; readonly message: string }>): string =>
  all
    .slice(0, VIOLATIONS_SHOWN_MAX)
    .map(({ message, path }) => (path.length === 0 ? message : `\`${path.join(".")}\` ${message}`))
    .join("; ")
    .concat(".")
