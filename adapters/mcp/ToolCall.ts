/**
 * One attempt at a tool call: over a link, once more if the server rejected the request before the tool ran, and on a
 * resumed stream if the server closed the first one before its response.
 */
import { Context, Effect, Fiber, References, type Scope, Tracer } from "effect"
import type { UpstreamCall } from "../../domain/metering/ToolUpstream.ts"
import type { Message } from "./ProviderEndpoint.ts"
import type { KnownEndpoint } from "./ProviderEndpoints.ts"
import { readTools } from "./Handshake.ts"
import { type Link, postHeaders, sessionHeaders, toolCallBody } from "./ProtocolEra.ts"
import { repairOf } from "./Repair.ts"
import { fault, type Reply } from "./Reply.ts"
import { appendParameterHeaders } from "./ToolHeaders.ts"

/** Counters over all attempts of a call. */
export interface Tally {
  /** The current attempt, from 1. */
  attempt: number
  /** The link of the last request; undefined if none was sent. */
  link: Link | undefined
  requestBytes: number
  responseBytes: number
}

export interface AttemptContext {
  readonly nowMs: () => number
  readonly scope: Scope.Scope
}

export const attemptCall = Effect.fnUntraced(function* (
  context: AttemptContext,
  known: KnownEndpoint,
  call: UpstreamCall,
  startedMs: number,
  timeoutMs: number,
  tally: Tally
): Effect.fn.Return<Reply> {
  const { endpoint, sessions } = known
  const untilMs = startedMs + timeoutMs
  const over = (link: Link) => callOver(context, known, link, call, untilMs, leftMs(context, untilMs), tally)
  tally.link = undefined
  // With an existing link the attempt's time is the call's own, so that all timers of a tool have one length.
  let reply =
    sessions.shared === undefined
      ? yield* sessions.with(timeoutMs, over)
      : yield* callOver(context, known, sessions.shared, call, untilMs, timeoutMs, tally)
  for (let repairs = 0; repairs < REPAIRS_MAX; repairs++) {
    const link = usedLink(tally)
    const repair = link === undefined ? "none" : repairOf(link, reply)
    if (link === undefined || repair === "none") return reply
    if (repair === "own_session" && !sessions.makeExclusive(link)) return reply
    if (repair === "new_session") sessions.lose(link, false)
    if (repair === "new_era" || repair === "other_era" || repair === "forget_era") sessions.lose(link, true)
    if (repair === "forget_era") return reply
    if (repair === "tool_headers") yield* readTools(endpoint, context.nowMs, () => leftMs(context, untilMs))
    tally.link = undefined
    const rejected = reply
    reply = yield* sessions.with(leftMs(context, untilMs), (next) =>
      repair === "other_era" && next.era === link.era ? Effect.succeed(rejected) : over(next)
    )
  }
  return reply
})

const REPAIRS_MAX = 2
/** Each request has a later timestamp than the one before: a provider rejects a repeated signature. */
const RESUMPTION_MS_MIN = 20

/** Assigned in a callback, which the type checker does not see. */
const usedLink = (tally: Tally): Link | undefined => tally.link

const leftMs = (context: AttemptContext, untilMs: number): number => Math.max(1, Math.ceil(untilMs - context.nowMs()))

const callOver = Effect.fnUntraced(function* (
  context: AttemptContext,
  { endpoint }: KnownEndpoint,
  link: Link,
  call: UpstreamCall,
  untilMs: number,
  timeoutMs: number,
  tally: Tally
): Effect.fn.Return<Reply> {
  const headers = postHeaders(link, "tools/call", call.toolName)
  if (link.era === "modern") {
    const nowMs = untilMs - timeoutMs
    if (nowMs > endpoint.toolHeadersUntilMs) {
      endpoint.toolHeadersUntilMs = Number.POSITIVE_INFINITY
      const readMs = endpoint.options.setupTimeoutMs
      yield* Effect.forkIn(
        readTools(endpoint, context.nowMs, () => readMs),
        context.scope
      )
    }
    const parameters = endpoint.toolHeaders.get(call.toolName)
    if (parameters === "invalid") return invalidTool
    if (parameters !== undefined) appendParameterHeaders(headers, parameters, call.arguments)
  }
  const traceparent = currentTraceparent()
  if (traceparent !== undefined) headers.push("traceparent", traceparent)
  if (call.maxCost !== undefined) headers.push("x-market-max-cost-microcents", String(call.maxCost))
  const id = endpoint.nextId()
  const body = toolCallBody(
    id,
    link,
    endpoint.meta,
    call.toolName,
    call.arguments,
    call.onProgress !== undefined,
    call.maxCost
  )
  tally.link = link
  tally.requestBytes += Buffer.byteLength(body)
  const message: Message = { headers, body, id, link, timeoutMs, subject: call, onProgress: call.onProgress }
  call.onForwarded?.(tally.attempt)
  let reply = yield* endpoint.ask(message)
  tally.responseBytes += reply.bytes
  if (reply.kind === "resumable") reply = yield* resumed(context, { endpoint }, message, reply, untilMs, tally)
  return reply
})

const resumed = Effect.fnUntraced(function* (
  context: AttemptContext,
  { endpoint }: Pick<KnownEndpoint, "endpoint">,
  message: Message,
  first: Reply,
  untilMs: number,
  tally: Tally
): Effect.fn.Return<Reply> {
  const link = message.link
  let reply = first
  for (let n = 0; n < endpoint.options.resumptionsMax && reply.kind === "resumable"; n++) {
    if (link?.era !== "legacy") return interrupted
    const waitMs = Math.max(RESUMPTION_MS_MIN, reply.retryMs ?? endpoint.options.resumptionDelayMs)
    const { lastEventId } = reply
    if (context.nowMs() + waitMs >= untilMs) {
      yield* Effect.sleep(leftMs(context, untilMs)).pipe(
        Effect.onExit(() => Effect.sync(() => endpoint.tellCancelled(message, "The answer did not come in time")))
      )
      return fault("timeout", "The provider did not respond in time")
    }
    yield* Effect.sleep(waitMs).pipe(
      Effect.onInterrupt(() => Effect.sync(() => endpoint.tellCancelled(message, "The caller went away")))
    )
    reply = yield* endpoint.ask({
      ...message,
      http: "GET",
      headers: sessionHeaders(link, lastEventId),
      body: "",
      timeoutMs: leftMs(context, untilMs)
    })
    tally.responseBytes += reply.bytes
  }
  // The tool may have run: a rejected reconnection is not a response to the call.
  return reply.kind === "status" ||
    reply.kind === "accepted" ||
    reply.kind === "resumable" ||
    (reply.kind === "rpc_error" && reply.status >= 400)
    ? interrupted
    : reply
})

const interrupted = fault("connection", "The provider's response was interrupted")
const invalidTool = fault("unusable", "The provider's definition of this tool has invalid x-mcp-header annotations")

/** The W3C `traceparent` of the span that the running fiber works under; undefined where it is not traced. */
const currentTraceparent = (): string | undefined => {
  const fiber = Fiber.getCurrent()
  if (fiber === undefined || !fiber.getRef(References.TracerEnabled)) return undefined
  const span = Context.getOrUndefined(fiber.context, Tracer.ParentSpan)
  return span?.sampled === true ? `00-${span.traceId}-${span.spanId}-01` : undefined
}
