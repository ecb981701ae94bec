/**
 * ToolUpstream over MCP's streamable HTTP, both eras of the protocol. A call is one or more attempts within a total
 * deadline; an attempt is a `tools/call` with the handshake, renewed session or resumed stream that it needs.
 *
 * `attempts` is 0 if no request was sent: a rejected address, an open circuit, too many calls in flight. A failed
 * connection is a network fault, retried only for idempotent tools.
 */
import { Clock, Effect, Layer, Random } from "effect"
import {
  ToolUpstream,
  type UpstreamResponse,
  type UpstreamCall,
  type UpstreamProblem
} from "../../domain/metering/ToolUpstream.ts"
import { monotonicMs } from "../../domain/shared/Monotonic.ts"
import { ResponseBytes } from "./ResponseBytes.ts"
import { ProviderEndpoints } from "./ProviderEndpoints.ts"
import type { HttpExchange } from "./HttpExchange.ts"
import { type McpUpstreamOptions, type McpUpstreamSettings, withDefaults } from "./McpUpstreamOptions.ts"
import type { Reply } from "./Reply.ts"
import { attemptCall, type Tally } from "./ToolCall.ts"
import { isHealthy, mayRetry, type Outcome, outcomeOf, retryAfterSecondsOf } from "./UpstreamOutcome.ts"

export const make = Effect.fnUntraced(function* (settings: McpUpstreamSettings) {
  const options = withDefaults(settings)
  const clock = yield* Clock.Clock
  const scope = yield* Effect.scope
  const nowMs = () => monotonicMs(clock)
  const epochMs = () => clock.currentTimeMillisUnsafe()
  const guard = { policy: options.policy, resolve: options.resolve, connectTimeoutMs: options.connectTimeoutMs }
  const endpoints = new ProviderEndpoints(
    { options, guard, begin: makeLane(), epochMs, answerBytes: new ResponseBytes(options.answerBytesMax) },
    nowMs,
    scope
  )
  const context = { nowMs, scope }
  yield* Effect.addFinalizer(() => endpoints.close)

  const call = Effect.fnUntraced(function* (request: UpstreamCall): Effect.fn.Return<UpstreamResponse> {
    const startedMs = nowMs()
    const known = endpoints.of(request.providerId, request.endpointUrl, startedMs)
    if (typeof known === "string") return notSent(problems[known])
    const { circuit } = known.endpoint
    const closedInMs = circuit.waitMs(startedMs)
    if (closedInMs > 0) {
      return notSent({ ...problems.circuit_open, retryAfterSeconds: Math.ceil(closedInMs / 1_000) })
    }
    const tally: Tally = { attempt: 1, link: undefined, requestBytes: 0, responseBytes: 0 }
    const untilMs = startedMs + options.totalDeadlineMs
    const firstMs = Math.min(request.timeoutMs, options.totalDeadlineMs)
    let reply = yield* attemptCall(context, known, request, startedMs, firstMs, tally)
    while (tally.attempt <= request.retriesMax && mayRetry(reply, request.idempotent)) {
      const delayMs = yield* retryDelayMs(options, reply, epochMs)
      if (nowMs() + delayMs >= untilMs) break
      yield* Effect.sleep(delayMs)
      tally.attempt++
      const againMs = nowMs()
      const leftMs = Math.max(1, Math.floor(untilMs - againMs))
      reply = yield* attemptCall(context, known, request, againMs, Math.min(request.timeoutMs, leftMs), tally)
    }
    const endedMs = nowMs()
    const healthy = isHealthy(reply)
    if (healthy === true) circuit.succeeded()
    else if (healthy === false) circuit.failed(endedMs)
    const asked =
      reply.kind !== "blocked" && reply.kind !== "overloaded" && reply.kind !== "unusable" && reply.kind !== "no_room"
    const answer = answerOf(
      outcomeOf(reply, tally.link?.era, epochMs),
      asked ? tally.attempt : tally.attempt - 1,
      Math.round(endedMs - startedMs),
      tally
    )
    return reply.kind === "result" && reply.release !== undefined ? { ...answer, release: reply.release } : answer
  })

  return ToolUpstream.of({ call })
})

/** The layer; its scope owns the sockets and the sessions. */
export const layer = (settings: McpUpstreamSettings): Layer.Layer<ToolUpstream> =>
  Layer.effect(ToolUpstream, make(settings))

const problems = {
  not_a_url: { kind: "blocked_endpoint", message: "The provider's endpoint is not an http or https address" },
  no_room: { kind: "overloaded", message: "Too many providers are being called at the moment" },
  circuit_open: { kind: "circuit_open", message: "The provider has failed repeatedly and is not called for now" }
} as const satisfies Record<string, UpstreamProblem>

/**
 * Starts exchanges together, once per turn of the event loop, which makes fewer and fuller turns of undici and the
 * sockets.
 */
const makeLane = (): ((exchange: HttpExchange) => void) => {
  let queue: Array<HttpExchange> = []
  const flush = () => {
    const batch = queue
    queue = []
    for (const exchange of batch) exchange.dispatch()
  }
  return (exchange) => {
    if (queue.push(exchange) === 1) setImmediate(flush)
  }
}

/** Evenly distributed, so that failed callers do not retry together; later if the server asks for it. */
const retryDelayMs = (options: McpUpstreamOptions, reply: Reply, epochMs: () => number): Effect.Effect<number> =>
  Effect.map(Random.nextBetween(options.retryDelayMsMin, options.retryDelayMsMax), (drawnMs) => {
    const asked = reply.kind === "status" ? retryAfterSecondsOf(reply.retryAfter, epochMs) : undefined
    return Math.max(drawnMs, (asked ?? 0) * 1_000)
  })

const notSent = (problem: UpstreamProblem): UpstreamResponse =>
  answerOf({ status: "error", result: undefined, problem }, 0, 0, {
    attempt: 0,
    link: undefined,
    requestBytes: 0,
    responseBytes: 0
  })

const answerOf = (outcome: Outcome, attempts: number, latencyMs: number, tally: Tally): UpstreamResponse => ({
  status: outcome.status,
  result: outcome.result,
  resultText: outcome.result === undefined ? undefined : outcome.resultText,
  problem: outcome.problem,
  attempts,
  latencyMs,
  requestBytes: tally.requestBytes,
  responseBytes: tally.responseBytes
})
