/**
 * What a reply means for a call of a caller that speaks MCP: also a call that continues, and a session that is lost.
 */
import type { McpExchange, PendingResult, UpstreamProblem } from "../../domain/upstream/ToolUpstream.ts"
import { isErrorPermitted, isInputPermitted } from "../../domain/mcp/ServerRequests.ts"
import { isObject } from "./JsonRpc.ts"
import type { Link } from "./ProtocolEra.ts"
import { repairOf } from "./Repair.ts"
import type { Reply } from "./Reply.ts"
import { type Outcome, outcomeOf } from "./UpstreamOutcome.ts"

export const exchangeOutcomeOf = (
  reply: Reply,
  link: Link | undefined,
  exchange: McpExchange,
  epochMs: () => number
): Outcome => {
  const outcome = outcomeOf(reply, link?.era, epochMs)
  if (link === undefined) return outcome
  if (exchange.session !== undefined && isSessionLost(link, reply)) {
    return { status: "error", result: undefined, problem: SESSION_LOST }
  }
  if (!isPermitted(reply, exchange.capabilities)) return { status: "error", result: undefined, problem: NOT_PERMITTED }
  const pending = reply.kind === "result" ? pendingOf(reply, link, exchange) : undefined
  return pending === undefined || outcome.problem?.kind !== "unfinished" ? outcome : { ...outcome, pending }
}

/** Of a client's own session: the server rejected the request because it does not know the session. */
export const isSessionLost = (link: Link, reply: Reply): boolean => {
  const repair = repairOf(link, reply)
  return repair === "new_session" || repair === "new_era"
}

export const SESSION_LOST: UpstreamProblem = {
  kind: "session_lost",
  message: "The provider does not know this session any more, for example after a restart. Initialize again."
}

/** Whether it asks only for what its client has declared. */
export const isPermitted = (reply: Reply, declared: string | undefined): boolean => {
  if (reply.kind === "rpc_error") return isErrorPermitted(declared, reply.error)
  return reply.kind !== "result" || isInputPermitted(declared, reply.result["inputRequests"])
}

export const NOT_PERMITTED: UpstreamProblem = {
  kind: "malformed_answer",
  message: "The provider's server asks for what this client has not declared, or names an address that is not https"
}

const pendingOf = (
  { result, text }: Extract<Reply, { kind: "result" }>,
  link: Link,
  exchange: McpExchange
): PendingResult | undefined => {
  if (link.era === "legacy") {
    const { sessionId, version } = link
    return (exchange.era === "legacy" || exchange.asTask === true) && isObject(result["task"])
      ? { kind: "task", resultText: text ?? JSON.stringify(result), session: { sessionId, version } }
      : undefined
  }
  if (exchange.era === "legacy") return undefined
  if (result["resultType"] === "input_required") {
    const state = result["requestState"]
    return {
      kind: "input_required",
      resultText: text ?? JSON.stringify(result),
      requestState: typeof state === "string" ? state : undefined
    }
  }
  return result["resultType"] === "task" ? { kind: "task", resultText: text ?? JSON.stringify(result) } : undefined
}
