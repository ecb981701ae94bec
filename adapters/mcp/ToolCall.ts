/**
 * One attempt at a tool call: over a link, once more if the server rejected the request before the tool ran, and on a
 * resumed stream if the server closed the first one before its response.
 */
import { Context, Effect, Fiber, References, type Scope, Tracer } from "effect"
import { isObject } from "../../domain/shared/JsonText.ts"
import type { UpstreamSession } from "../../domain/upstream/Protocol.ts"
import type { McpExchange, UpstreamCall } from "../../domain/upstream/ToolUpstream.ts"
import { type Caller, type Link, type Message, metaFor, ownId, postHeaders, type Repair } from "./client/Dialect.ts"
import type { Reply } from "./client/HttpExchange.ts"
import { idOf, requestBody, type RpcId, tokenOf } from "./client/JsonRpc.ts"
import { repaired, repairOf, REPAIRS_MAX } from "./client/LinkRepair.ts"
import type { ProviderEndpoint } from "./client/ProviderEndpoint.ts"
import { establish, isLink, type KnownEndpoint } from "./client/ProviderEndpoints.ts"
import { serverMessages } from "./client/ServerMessages.ts"
import { isSessionLost } from "./client/UpstreamOutcome.ts"

// The `tools/call` of a caller that speaks MCP: its arguments and other params verbatim, and the server's messages passed on
// to it.

const exchangeMessage = (
  endpoint: ProviderEndpoint,
  link: Link,
  call: UpstreamCall,
  exchange: McpExchange,
  headers: Array<string>,
  timeoutMs: number,
  onProgress: (progress: unknown) => boolean
): Message => {
  const own = exchange.session !== undefined
  const id: RpcId = own ? ownId(call.invocationId) : endpoint.nextId()
  const idText = JSON.stringify(id)
  const token = tokenOf(exchange.progressToken)
  // Progress reaches the client verbatim in its own session: it must not tell the id. It is asked for in any case, because it
  // gives the tool more time.
  const sent = own ? (token ?? JSON.stringify(ownId("progress"))) : idText
  return {
    headers,
    body: callBody(endpoint, link, call, idText, sent),
    id,
    link,
    timeoutMs,
    subject: call,
    onMessage: serverMessages(
      endpoint,
      {
        own,
        declared: exchange.capabilities,
        sentAs: idOf(sent),
        token,
        onProgress,
        onMessage: exchange.onMessage
      },
      endpoint.options.messagesMax
    )
  }
}

const callBody = (
  endpoint: ProviderEndpoint,
  link: Link,
  { arguments: args, exchange, maxCost, toolName }: UpstreamCall,
  id: string,
  progressToken: string
): string => {
  const own = { meta: endpoint.metaMembers, progressToken, maxCost }
  const meta = metaFor(link, exchange ?? SERVICE_ITSELF, exchange?.meta, own)
  const others = exchange === undefined ? "" : link.dialect.callParams(exchange)
  const named = `"name":${JSON.stringify(toolName)},"arguments":${exchange?.arguments ?? JSON.stringify(args)}`
  // The most that may be charged is in the body, which the signature covers.
  return requestBody(id, "tools/call", `{${others}${named}${meta === undefined ? "" : `,"_meta":${meta}`}}`)
}

const SERVICE_ITSELF: Caller = { inSession: false, capabilities: undefined, clientInfo: undefined }

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

/** The most frequent attempt, over a link that exists and needs no repair, runs without a generator of its own. */
export const attemptCall = (
  context: AttemptContext,
  known: KnownEndpoint,
  call: UpstreamCall,
  startedMs: number,
  timeoutMs: number,
  tally: Tally
): Effect.Effect<Reply> => {
  const { endpoint, sessions } = known
  const { exchange } = call
  const untilMs = startedMs + timeoutMs
  const reports = reportsOf(context, call, startedMs, timeoutMs, tally)
  const over = (link: Link, leftMs = endpoint.leftMs(untilMs)) =>
    callOver(context, endpoint, link, call, untilMs, leftMs, tally, reports)
  tally.link = undefined
  if (exchange?.asTask === true) return startedApart(context, known, over)
  if (exchange?.session !== undefined) return inOwnSession(known, exchange, exchange.session, over)
  // With an existing link the attempt's time is the call's own, so that all timers of a tool have one length.
  const first = sessions.shared === undefined ? sessions.with(timeoutMs, over) : over(sessions.shared, timeoutMs)
  return Effect.flatMap(first, (reply) =>
    repairFor(tally, reply) === "none" ? Effect.succeed(reply) : repairedCall(known, reply, untilMs, tally, over)
  )
}

type Over = (link: Link) => Effect.Effect<Reply>

/** Of the link that the last request used. */
const repairFor = ({ link }: Tally, reply: Reply): Repair => (link === undefined ? "none" : repairOf(link, reply))

const inOwnSession = Effect.fnUntraced(function* (
  { endpoint: { sessionDialect } }: KnownEndpoint,
  { renewSession }: McpExchange,
  session: UpstreamSession,
  over: Over
): Effect.fn.Return<Reply> {
  const own = sessionDialect.linkOf(session)
  const reply = yield* over(own)
  // Only the caller knows whether another session can replace its own, which may have state.
  const renew = isSessionLost(own, reply) ? renewSession : undefined
  const renewed = renew === undefined ? undefined : yield* Effect.orElseSucceed(renew, () => undefined)
  return renewed === undefined ? reply : yield* over(sessionDialect.linkOf(renewed))
})

const repairedCall = Effect.fnUntraced(function* (
  known: KnownEndpoint,
  first: Reply,
  untilMs: number,
  tally: Tally,
  over: Over
): Effect.fn.Return<Reply> {
  let reply = first
  for (let repairs = 0; repairs < REPAIRS_MAX; repairs++) {
    const { link } = tally
    const repair = repairFor(tally, reply)
    if (link === undefined || repair === "none") return reply
    if (!(yield* repaired(known, link, repair, () => known.endpoint.leftMs(untilMs)))) return reply
    tally.link = undefined
    const rejected = reply
    reply = yield* known.sessions.with(known.endpoint.leftMs(untilMs), (next) =>
      repair === "other_dialect" && next.dialect === link.dialect ? Effect.succeed(rejected) : over(next)
    )
  }
  return reply
})

/** Runs in a session that ends with the task; at once if none was started. */
const startedApart = Effect.fnUntraced(function* (
  { scope }: AttemptContext,
  { endpoint }: KnownEndpoint,
  over: (link: Link) => Effect.Effect<Reply>
): Effect.fn.Return<Reply> {
  const link = yield* establish(endpoint)
  if (!isLink(link)) return link
  return yield* Effect.onExit(over(link), (exit) =>
    exit._tag === "Success" && startsTask(exit.value)
      ? Effect.void
      : Effect.asVoid(Effect.forkIn(link.dialect.end(endpoint, link), scope))
  )
})

const startsTask = (reply: Reply): boolean => reply.kind === "result" && isObject(reply.result["task"])

const callOver = (
  { scope }: AttemptContext,
  endpoint: ProviderEndpoint,
  link: Link,
  call: UpstreamCall,
  untilMs: number,
  timeoutMs: number,
  tally: Tally,
  reports: Reports
): Effect.Effect<Reply> => {
  const headers = postHeaders(link, "tools/call", call.toolName)
  const prepared = link.dialect.prepareCall(endpoint, call, headers, untilMs - timeoutMs, scope)
  return Effect.flatMapEager(prepared, (prevented) => {
    if (prevented !== undefined) return Effect.succeed(prevented)
    const traceparent = currentTraceparent()
    if (traceparent !== undefined) headers.push("traceparent", traceparent)
    if (call.maxCost !== undefined) headers.push("x-market-max-cost-microcents", String(call.maxCost))
    const message = messageOf(endpoint, link, call, headers, timeoutMs, reports)
    tally.link = link
    tally.requestBytes += Buffer.byteLength(message.body)
    call.onForwarded?.(tally.attempt)
    return endpoint.askAndResume(message, untilMs, (bytes) => {
      tally.responseBytes += bytes
    })
  })
}

const messageOf = (
  endpoint: ProviderEndpoint,
  link: Link,
  call: UpstreamCall,
  headers: Array<string>,
  timeoutMs: number,
  { extraMs, isPassed }: Reports
): Message => {
  if (call.exchange !== undefined) {
    return { ...exchangeMessage(endpoint, link, call, call.exchange, headers, timeoutMs, isPassed), extraMs }
  }
  const id = endpoint.nextId()
  const { onProgress } = call
  // Progress is always asked for: it gives the tool more time.
  const body = callBody(endpoint, link, call, String(id), String(id))
  return {
    headers,
    body,
    id,
    link,
    timeoutMs,
    extraMs,
    subject: call,
    onProgress: (report) => {
      if (isPassed(report.progress)) onProgress?.(report)
    }
  }
}

/** The progress of one attempt. */
interface Reports {
  /** Added to the time-out of the attempt: the time of the caller, and what progress has given. */
  readonly extraMs: () => number
  /** Tells whether to pass on a report: a repeated attempt begins again, and progress must not go backwards. */
  readonly isPassed: (progress: unknown) => boolean
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
    isPassed: (progress) => {
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

/** The W3C `traceparent` of the span that the running fiber works under; undefined where it is not traced. */
const currentTraceparent = (): string | undefined => {
  const fiber = Fiber.getCurrent()
  if (fiber === undefined || !fiber.getRef(References.TracerEnabled)) return undefined
  const span = Context.getOrUndefined(fiber.context, Tracer.ParentSpan)
  return span?.sampled === true ? `00-${span.traceId}-${span.spanId}-01` : undefined
}
