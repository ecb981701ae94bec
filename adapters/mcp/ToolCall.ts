/**
 * One attempt at a tool call: over a link, once more if the server rejected the request before the tool ran, and on a
 * resumed stream if the server closed the first one before its response.
 */
import { Context, Effect, Fiber, References, type Scope, Tracer } from "effect"
import type { UpstreamCall } from "../../domain/upstream/ToolUpstream.ts"
import { exchangeMessage } from "./ExchangeMessage.ts"
import { isSessionLost } from "./ExchangeOutcome.ts"
import { establish, isLink, readTools } from "./Handshake.ts"
import { isObject } from "./JsonRpc.ts"
import { REPAIRS_MAX, repaired } from "./LinkRepair.ts"
import type { Message, ProviderEndpoint } from "./ProviderEndpoint.ts"
import type { KnownEndpoint } from "./ProviderEndpoints.ts"
import { type Link, postHeaders, toolCallBody } from "./ProtocolEra.ts"
import { resumed } from "./Resumption.ts"
import { repairOf } from "./Repair.ts"
import { fault, type Reply } from "./Reply.ts"
import { appendParameterHeaders } from "./ToolHeaders.ts"

/** Counters over all attempts of a call. */
export interface Tally {
  readonly startedMs: number
  /** The current attempt, from 1. */
  attempt: number
  /** The link of the last request; undefined if none was sent. */
  link: Link | undefined
  requestBytes: number
  responseBytes: number
  /** The most progress that was reported. */
  progressMax: number
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
  const { sessions } = known
  const untilMs = startedMs + timeoutMs
  const reports = reportsOf(context, call, startedMs, timeoutMs, tally)
  const over = (link: Link) => callOver(context, known, link, call, untilMs, leftMs(context, untilMs), tally, reports)
  tally.link = undefined
  if (call.exchange?.asTask === true) return yield* startedApart(context, known, over)
  const session = call.exchange?.session
  if (session !== undefined) {
    const own: Link = { era: "legacy", ...session }
    const reply = yield* over(own)
    // Only the caller knows whether another session can replace its own, which may have state.
    const renew = isSessionLost(own, reply) ? call.exchange?.renewSession : undefined
    const renewed = renew === undefined ? undefined : yield* Effect.orElseSucceed(renew, () => undefined)
    return renewed === undefined ? reply : yield* over({ era: "legacy", ...renewed })
  }
  // With an existing link the attempt's time is the call's own, so that all timers of a tool have one length.
  let reply =
    sessions.shared === undefined
      ? yield* sessions.with(timeoutMs, over)
      : yield* callOver(context, known, sessions.shared, call, untilMs, timeoutMs, tally, reports)
  for (let repairs = 0; repairs < REPAIRS_MAX; repairs++) {
    const link = usedLink(tally)
    const repair = link === undefined ? "none" : repairOf(link, reply)
    if (link === undefined || repair === "none") return reply
    if (!(yield* repaired(known, link, repair, context.nowMs, () => leftMs(context, untilMs)))) return reply
    tally.link = undefined
    const rejected = reply
    reply = yield* sessions.with(leftMs(context, untilMs), (next) =>
      repair === "other_era" && next.era === link.era ? Effect.succeed(rejected) : over(next)
    )
  }
  return reply
})

/** In a session that ends with the task; at once if none was started. */
const startedApart = Effect.fnUntraced(function* (
  { nowMs, scope }: AttemptContext,
  { endpoint }: KnownEndpoint,
  over: (link: Link) => Effect.Effect<Reply>
): Effect.fn.Return<Reply> {
  const link = yield* establish(endpoint, nowMs)
  if (!isLink(link)) return link
  return yield* Effect.onExit(over(link), (exit) =>
    link.sessionId === undefined || (exit._tag === "Success" && startsTask(exit.value))
      ? Effect.void
      : Effect.asVoid(Effect.forkIn(endpoint.endSession(link), scope))
  )
})

const startsTask = (reply: Reply): boolean => reply.kind === "result" && isObject(reply.result["task"])

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
  tally: Tally,
  reports: Reports
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
  const message = messageOf(endpoint, link, call, headers, timeoutMs, reports)
  tally.link = link
  tally.requestBytes += Buffer.byteLength(message.body)
  call.onForwarded?.(tally.attempt)
  const reply = yield* endpoint.ask(message)
  tally.responseBytes += reply.bytes
  if (reply.kind !== "resumable") return reply
  return yield* resumed(endpoint, message, reply, context.nowMs, untilMs, (bytes) => {
    tally.responseBytes += bytes
  })
})

const messageOf = (
  endpoint: ProviderEndpoint,
  link: Link,
  call: UpstreamCall,
  headers: Array<string>,
  timeoutMs: number,
  { extraMs, heard }: Reports
): Message => {
  if (call.exchange !== undefined) {
    return { ...exchangeMessage(endpoint, link, call, call.exchange, headers, timeoutMs, heard), extraMs }
  }
  const id = endpoint.nextId()
  const { onProgress } = call
  const body = toolCallBody(id, link, endpoint.meta, call.toolName, call.arguments, call.maxCost)
  return {
    headers,
    body,
    id,
    link,
    timeoutMs,
    extraMs,
    subject: call,
    onProgress: (report) => {
      if (heard(report.progress)) onProgress?.(report)
    }
  }
}

/** The progress of one attempt. */
interface Reports {
  /** Added to the time-out of the attempt: the time of the caller, and what progress has given. */
  readonly extraMs: () => number
  /** Whether a report is passed on: an attempt that repeats another one begins again, and progress must not go backwards. */
  readonly heard: (progress: unknown) => boolean
}

const reportsOf = (
  { nowMs }: AttemptContext,
  call: UpstreamCall,
  startedMs: number,
  timeoutMs: number,
  tally: Tally
): Reports => {
  const { progressMax } = tally
  let givenMs = 0
  const callerMs = () => call.extraMs?.() ?? 0
  return {
    extraMs: () => callerMs() + givenMs,
    heard: (progress) => {
      const longestMs = tally.startedMs + (call.progressMsMax ?? 0) - startedMs
      // Negative while the caller is asked, whose time is added.
      const takenMs = nowMs() - startedMs - callerMs()
      givenMs = Math.max(givenMs, Math.min(takenMs + call.timeoutMs, longestMs) - timeoutMs)
      call.onReported?.()
      if (typeof progress !== "number") return true
      tally.progressMax = Math.max(tally.progressMax, progress)
      return progress > progressMax
    }
  }
}

const invalidTool = fault("unusable", "The provider's definition of this tool has invalid x-mcp-header annotations")

/** The W3C `traceparent` of the span that the running fiber works under; undefined where it is not traced. */
const currentTraceparent = (): string | undefined => {
  const fiber = Fiber.getCurrent()
  if (fiber === undefined || !fiber.getRef(References.TracerEnabled)) return undefined
  const span = Context.getOrUndefined(fiber.context, Tracer.ParentSpan)
  return span?.sampled === true ? `00-${span.traceId}-${span.spanId}-01` : undefined
}
