/**
 * The outcome of a call by its reply, with the message for the caller, and the failures of all other requests. Only a
 * finished result is a success.
 */
import { DateTime, Effect, Option } from "effect"
import { isErrorPermitted, isInputPermitted } from "../../../domain/mcp/ServerRequests.ts"
import { isObject } from "../../../domain/shared/JsonText.ts"
import { INVALID_REQUEST } from "../../../domain/upstream/Protocol.ts"
import { type ServerAddress, ServerFailed } from "../../../domain/upstream/ProviderServers.ts"
import type {
  CallStatus,
  McpExchange,
  PendingResult,
  ToolResult,
  UpstreamProblem
} from "../../../domain/upstream/ToolUpstream.ts"
import type { Link } from "./Dialect.ts"
import type { Reply } from "./HttpExchange.ts"
import type { RpcError } from "./JsonRpc.ts"
import { repairOf } from "./LinkRepair.ts"
import { endpointOf, type McpClient, reachable } from "./McpClient.ts"
import type { KnownEndpoint } from "./ProviderEndpoints.ts"

export interface Outcome {
  readonly status: CallStatus
  readonly result: ToolResult | undefined
  readonly resultText?: string | undefined
  readonly problem: UpstreamProblem | undefined
  readonly pending?: PendingResult | undefined
}

const NO_ROOM_RETRY_SECONDS = 1

export const outcomeOf = (reply: Reply, link: Link | undefined, epochMs: () => number): Outcome => {
  switch (reply.kind) {
    case "result":
      return { ...outcomeOfResult(reply.result, link), resultText: reply.text }
    case "rpc_error":
      return failed({
        kind: "json_rpc_error",
        message: `The provider rejected the call: ${brief(reply.error)}`,
        ...(reply.status >= 400 ? { httpStatus: reply.status } : {}),
        rpcError: reply.error
      })
    case "status":
      return outcomeOfStatus(reply, epochMs)
    case "timeout":
      return { status: "timeout", result: undefined, problem: { kind: "timeout", message: reply.message } }
    case "blocked":
      return failed({ kind: "blocked_endpoint", message: reply.message })
    case "connection":
    case "too_large":
    case "overloaded":
      return failed({ kind: reply.kind, message: reply.message })
    case "no_room":
      return failed({ kind: "overloaded", message: reply.message, retryAfterSeconds: NO_ROOM_RETRY_SECONDS })
    case "malformed":
    case "unusable":
      return failed({ kind: "malformed_answer", message: reply.message })
    case "accepted":
      return failed({ kind: "malformed_answer", message: "The provider accepted the call but sent no response" })
    case "resumable":
      return failed({ kind: "connection", message: "The provider's response was interrupted" })
  }
}

/** Tells whether to retry: a 5xx always, a timeout or a broken stream only if the tool is idempotent. */
export const mayRetry = (reply: Reply, idempotent: boolean): boolean =>
  reply.kind === "status"
    ? reply.status >= 500 && reply.status <= 599
    : idempotent && (reply.kind === "timeout" || reply.kind === "connection" || reply.kind === "resumable")

/** Undefined if the reply says nothing of the endpoint's health. */
export const isHealthy = (reply: Reply): boolean | undefined => {
  switch (reply.kind) {
    case "blocked":
    case "overloaded":
    case "no_room":
    case "unusable":
      return undefined
    case "connection":
    case "malformed":
    case "resumable":
    case "timeout":
      return false
    case "status":
      return reply.status < 500
    default:
      return true
  }
}

/** `Retry-After` in seconds, from either of its forms. */
export const retryAfterSecondsOf = (value: string | undefined, epochMs: () => number): number | undefined => {
  if (value === undefined) return undefined
  if (/^\d{1,9}$/u.test(value)) return Number(value)
  if (!/^[A-Z][a-z]+, /u.test(value)) return undefined
  const date = Option.getOrUndefined(DateTime.make(value))
  return date === undefined ? undefined : Math.max(0, Math.ceil((DateTime.toEpochMillis(date) - epochMs()) / 1000))
}

const outcomeOfResult = (result: ToolResult, link: Link | undefined): Outcome => {
  const isUnfinished = link?.dialect.isUnfinished(result) === true
  if (isUnfinished || (isObject(result["task"]) && result["content"] === undefined)) {
    return failed({
      kind: "unfinished",
      message:
        result["resultType"] === "input_required"
          ? "The tool requires more input, which a metered call cannot provide"
          : "The tool started a task, which a metered call cannot wait for"
    })
  }
  return { status: result["isError"] === true ? "error" : "success", result, problem: undefined }
}

const outcomeOfStatus = (reply: Extract<Reply, { kind: "status" }>, epochMs: () => number): Outcome => {
  const retryAfterSeconds = retryAfterSecondsOf(reply.retryAfter, epochMs)
  const extra = {
    httpStatus: reply.status,
    ...(reply.error === undefined ? {} : { rpcError: reply.error }),
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds })
  }
  if (reply.status === 429) {
    const problem = { kind: "rate_limited" as const, message: "The provider is rate limiting calls", ...extra }
    return { status: "rate_limited", result: undefined, problem }
  }
  const redirected = reply.status >= 300 && reply.status < 400
  return failed({
    kind: "http_status",
    message: redirected
      ? `The provider's response was ${reply.status}, a redirect, which is not followed`
      : `The provider's response has HTTP status ${reply.status}`,
    ...extra
  })
}

const failed = (problem: UpstreamProblem): Outcome => ({ status: "error", result: undefined, problem })

const brief = (error: RpcError): string => {
  const text = error.message.replace(/\p{C}+/gu, " ").trim()
  return text === "" ? `code ${error.code}` : text.length <= 200 ? text : `${text.slice(0, 199)}…`
}

/** Tells callers that speak MCP also of a call that continues, and of a session that is lost. */
export const exchangeOutcomeOf = (
  reply: Reply,
  link: Link | undefined,
  exchange: McpExchange,
  epochMs: () => number
): Outcome => {
  const outcome = outcomeOf(reply, link, epochMs)
  if (link === undefined) return outcome
  if (exchange.session !== undefined && isSessionLost(link, reply)) {
    return { status: "error", result: undefined, problem: SESSION_LOST }
  }
  if (!isPermitted(reply, exchange.capabilities)) return { status: "error", result: undefined, problem: NOT_PERMITTED }
  if (reply.kind !== "result" || outcome.problem?.kind !== "unfinished") return outcome
  const { result, text = JSON.stringify(result) } = reply
  return { ...outcome, pending: link.dialect.pendingOf(link, result, text, exchange) }
}

/** The server rejected the request because it does not know the client's session. */
export const isSessionLost = (link: Link, reply: Reply): boolean => {
  const repair = repairOf(link, reply)
  return repair === "new_session" || repair === "new_dialect"
}

const SESSION_LOST: UpstreamProblem = {
  kind: "session_lost",
  message: "The provider does not know this session any more, for example after a restart. Initialize again."
}

/** A reply is permitted if it asks only for what its client has declared. */
export const isPermitted = (reply: Reply, declared: string | undefined): boolean => {
  if (reply.kind === "rpc_error") return isErrorPermitted(declared, reply.error)
  return reply.kind !== "result" || isInputPermitted(declared, reply.result["inputRequests"])
}

export const NOT_PERMITTED: UpstreamProblem = {
  kind: "malformed_answer",
  message: "The provider's server asks for what this client has not declared, or names an address that is not https"
}

// Failures of requests other than tool calls, before they were sent or by the reply.

type Find = typeof endpointOf

const found =
  (find: Find) =>
  (client: McpClient, { endpointUrl, providerId }: ServerAddress): Effect.Effect<KnownEndpoint, ServerFailed> =>
    Effect.suspend(() => {
      const known = find(client, providerId, endpointUrl, client.nowMs())
      return "kind" in known ? Effect.fail(failure(known)) : Effect.succeed(known)
    })

/** The endpoint of a server that is called now, and whose answer is reported to its circuit. */
export const reach = found(reachable)
/** Reaches the endpoint like `reach`, without such a report. */
export const reachUnprobed = found((...at) => reachable(...at, false))
/** Finds what is known of a server, whether or not it is called now. */
export const knownEndpoint = found(endpointOf)

/** The failure of a request on the shared link. */
export const failureOf = ({ epochMs }: McpClient, reply: Reply, link?: Link): ServerFailed =>
  failure(outcomeOf(reply, link, epochMs).problem ?? notMcp)

/** The failure of a request in a session of the client's own. */
export const sessionFailureOf = (client: McpClient, reply: Reply, link: Link): ServerFailed =>
  isSessionLost(link, reply)
    ? new ServerFailed({ problem: SESSION_LOST, sessionLost: true })
    : failureOf(client, reply, link)

/** There is no room for another request of this consumer, or to this provider. */
export const refusal = (by: "consumer" | "provider"): ServerFailed => failure(tooMany[by])

/** The message is neither a notification of MCP nor a response: nothing else is sent without a response. */
export const notTold = new ServerFailed({
  problem: {
    kind: "json_rpc_error",
    message: "Only notifications of MCP and responses are passed on",
    rpcError: { code: INVALID_REQUEST, message: "Only notifications of MCP and responses are passed on" }
  },
  sessionLost: false
})

const failure = (problem: UpstreamProblem): ServerFailed => new ServerFailed({ problem, sessionLost: false })

const tooMany: Readonly<Record<"consumer" | "provider", UpstreamProblem>> = {
  consumer: {
    kind: "overloaded",
    message: "Too many requests of this account are in progress. Retry when one of them has ended."
  },
  provider: {
    kind: "overloaded",
    message: "Too many requests to this provider are in progress. Retry after 1 second.",
    retryAfterSeconds: 1
  }
}

const notMcp: UpstreamProblem = { kind: "malformed_answer", message: "The provider's response is not MCP" }
