/**
 * ToolUpstream over MCP's streamable HTTP, in two dialects of the protocol. A call is one or more attempts within a total
 * deadline; an attempt is a `tools/call` with the handshake, renewed session or resumed stream that it needs.
 *
 * `attempts` is 0 if no request was sent: a rejected address, an open circuit, too many calls in flight. A failed
 * connection is a network fault, retried only for idempotent tools.
 */
import { Context, Effect, Layer, Random } from "effect"
import { ProviderServers } from "../../domain/upstream/ProviderServers.ts"
import {
  ToolUpstream,
  type UpstreamCall,
  type UpstreamProblem,
  type UpstreamResponse
} from "../../domain/upstream/ToolUpstream.ts"
import { makeProviderServers } from "./McpProviderServers.ts"
import { attemptCall, type Tally } from "./ToolCall.ts"
import type { Reply } from "./client/HttpExchange.ts"
import { makeMcpClient, type McpClient, reachable } from "./client/McpClient.ts"
import type { McpUpstreamOptions, McpUpstreamSettings } from "./client/McpUpstreamOptions.ts"
import {
  exchangeOutcomeOf,
  isHealthy,
  mayRetry,
  type Outcome,
  outcomeOf,
  retryAfterSecondsOf
} from "./client/UpstreamOutcome.ts"
import { makeClientSessions } from "./legacy/ClientSessions.ts"
import { legacyDialect } from "./legacy/LegacyDialect.ts"

const makeToolUpstream = (client: McpClient) => {
  const { epochMs, nowMs, options } = client

  const call = Effect.fnUntraced(function* (request: UpstreamCall): Effect.fn.Return<UpstreamResponse> {
    const startedMs = nowMs()
    const known = reachable(client, request.providerId, request.endpointUrl, startedMs)
    if ("kind" in known) return notSent(known)
    const { circuit } = known.endpoint
    const { exchange } = request
    const tally: Tally = { ...NONE, startedMs, attempt: 1 }
    const totalMs = options.totalDeadlineMs(request.timeoutMs)
    const untilMs = startedMs + totalMs
    const firstMs = Math.min(request.timeoutMs, totalMs)
    let reply = yield* attemptCall(client, known, request, startedMs, firstMs, tally)
    while (tally.attempt <= request.retriesMax && mayRetry(reply, request.idempotent)) {
      const delayMs = yield* retryDelayMs(options, reply, epochMs)
      if (nowMs() + delayMs >= untilMs) break
      yield* Effect.sleep(delayMs)
      tally.attempt++
      const againMs = nowMs()
      const leftMs = Math.max(1, Math.floor(untilMs - againMs))
      reply = yield* attemptCall(client, known, request, againMs, Math.min(request.timeoutMs, leftMs), tally)
    }
    const endedMs = nowMs()
    // A server may wait for the caller, in the caller's own session.
    const healthy = reply.kind === "timeout" && exchange?.session !== undefined ? undefined : isHealthy(reply)
    if (healthy === true) circuit.succeeded()
    else if (healthy === false) circuit.failed(endedMs)
    const outcome =
      exchange === undefined
        ? outcomeOf(reply, tally.link, epochMs)
        : exchangeOutcomeOf(reply, tally.link, exchange, epochMs)
    const asked =
      reply.kind !== "blocked" &&
      reply.kind !== "overloaded" &&
      reply.kind !== "unusable" &&
      reply.kind !== "no_room" &&
      outcome.problem?.kind !== "session_lost"
    const answer = answerOf(outcome, asked ? tally.attempt : tally.attempt - 1, Math.round(endedMs - startedMs), tally)
    return reply.kind === "result" && reply.release !== undefined ? { ...answer, release: reply.release } : answer
  })

  return ToolUpstream.of({ call })
}

/** Both ports to the servers of providers, over the same connections; their scope owns the sockets and the sessions. */
export const make = Effect.fnUntraced(function* (settings: McpUpstreamSettings) {
  const client = yield* makeMcpClient(settings, legacyDialect)
  return Context.make(ToolUpstream, makeToolUpstream(client)).pipe(
    Context.add(ProviderServers, yield* makeProviderServers(client, makeClientSessions))
  )
})

export const layer = (settings: McpUpstreamSettings): Layer.Layer<ToolUpstream | ProviderServers> =>
  Layer.effectContext(make(settings))

/** Evenly distributed, so that failed callers do not retry together; later if the server asks for it. */
const retryDelayMs = (options: McpUpstreamOptions, reply: Reply, epochMs: () => number): Effect.Effect<number> =>
  Effect.map(Random.nextBetween(options.retryDelayMsMin, options.retryDelayMsMax), (drawnMs) => {
    const asked = reply.kind === "status" ? retryAfterSecondsOf(reply.retryAfter, epochMs) : undefined
    return Math.max(drawnMs, (asked ?? 0) * 1_000)
  })

const notSent = (problem: UpstreamProblem): UpstreamResponse =>
  answerOf({ status: "error", result: undefined, problem }, 0, 0, NONE)

const NONE: Tally = {
  startedMs: 0,
  attempt: 0,
  link: undefined,
  requestBytes: 0,
  responseBytes: 0,
  progressMax: Number.NEGATIVE_INFINITY
}

const answerOf = (outcome: Outcome, attempts: number, latencyMs: number, tally: Tally): UpstreamResponse => ({
  status: outcome.status,
  result: outcome.result,
  resultText: outcome.result === undefined ? undefined : outcome.resultText,
  problem: outcome.problem,
  pending: outcome.pending,
  attempts,
  latencyMs,
  requestBytes: tally.requestBytes,
  responseBytes: tally.responseBytes
})
