/**
 * Passes requests of clients to providers' servers, except calls of tools, which are billed.
 */
import { Effect } from "effect"
import { isNeverPassed, isOfTask } from "../../domain/mcp/PassThrough.ts"
import { passedResult } from "../../domain/mcp/PassedResults.ts"
import { replacedAt } from "../../domain/shared/JsonText.ts"
import { INTERNAL_ERROR, METHOD_NOT_FOUND } from "../../domain/upstream/Protocol.ts"
import type { PassedReply, PassedRequest, ServerAddress, ServerFailed } from "../../domain/upstream/ProviderServers.ts"
import { isPermitted, NOT_PERMITTED } from "./ExchangeOutcome.ts"
import type { McpClient } from "./McpClient.ts"
import { withinRate } from "./MessageRate.ts"
import { LISTEN, passedMessage } from "./PassedMessage.ts"
import type { Link } from "./ProtocolEra.ts"
import type { Message, ProviderEndpoint } from "./ProviderEndpoint.ts"
import type { KnownEndpoint } from "./ProviderEndpoints.ts"
import { repairOf } from "./Repair.ts"
import type { Reply } from "./Reply.ts"
import { resumed } from "./Resumption.ts"
import { failureOf, reach, refusal, sessionFailureOf } from "./ServerFailures.ts"
import { SUBSCRIPTION_ID } from "./ServerMessages.ts"
import { type Answered, overSharedLink } from "./SharedLink.ts"
import type { Shares } from "./Shares.ts"

export const makePassedRequests = (client: McpClient, requests: Shares, streams: Shares, tasks: Shares) => {
  const { nowMs, options } = client

  /** One request and its response, on resumed streams too. */
  const exchanged = Effect.fnUntraced(function* (endpoint: ProviderEndpoint, message: Message, untilMs: number) {
    const reply = yield* endpoint.ask(message)
    return reply.kind === "resumable" ? yield* resumed(endpoint, message, reply, nowMs, untilMs, ignoreBytes) : reply
  })

  const answeredOver = (
    known: KnownEndpoint,
    request: PassedRequest,
    untilMs: number,
    onMessage: (message: string) => void
  ): Effect.Effect<Answered> => {
    const { endpoint } = known
    const leftMs = () => Math.max(1, Math.ceil(untilMs - nowMs()))
    const send = (link: Link) =>
      Effect.suspend(() =>
        request.session === undefined && isOfOneClient(link, request.method)
          ? Effect.succeed(needsSession(request.method))
          : exchanged(endpoint, passedMessage(endpoint, link, request, onMessage, leftMs()), untilMs)
      )
    if (request.session === undefined) return overSharedLink(known, nowMs, leftMs, send)
    const link: Link = { era: "legacy", ...request.session }
    return Effect.map(send(link), (reply) => ({ link, reply }))
  }

  const pass = Effect.fnUntraced(function* (known: KnownEndpoint, request: PassedRequest) {
    const { circuit } = known.endpoint
    const listening = request.method === LISTEN
    const untilMs = nowMs() + (listening ? Math.min(request.timeoutMs, options.listenMsMax) : request.timeoutMs)
    const answered = listening
      ? yield* withinRate(client, (onEach) =>
          answeredOver(known, request, untilMs, (message) => onEach(() => request.onMessage(message)))
        )
      : yield* answeredOver(known, request, untilMs, request.onMessage)
    const { link, reply } = answered
    // Passed requests are free: only what no request can cause on purpose counts against the server.
    if (reply.kind === "result" || reply.kind === "rpc_error") circuit.succeeded()
    else if (reply.kind === "connection" && reply.bytes === 0) circuit.failed(nowMs())
    // What a task says is not passed on as it is, and is checked where it is read.
    if (!isOfTask(request.method) && !isPermitted(reply, request.capabilities)) return notPermitted
    if (reply.kind === "result") return resultOf(reply, request)
    if (reply.kind === "timeout" && listening && link !== undefined) return endOfStream(request)
    if (reply.kind === "rpc_error" && link !== undefined && repairOf(link, reply) === "none") {
      return { _tag: "RpcError", error: reply.text ?? JSON.stringify(reply.error) } as const
    }
    return yield* request.session === undefined || link === undefined
      ? failureOf(client, reply, link)
      : sessionFailureOf(client, reply, link)
  })

  return Effect.fn("ProviderServers.ask")(function* (
    server: ServerAddress,
    request: PassedRequest
  ): Effect.fn.Return<PassedReply, ServerFailed> {
    const ofTask = isOfTask(request.method)
    if (!ofTask && (isNeverPassed(request.method) || !METHOD.test(request.method))) return notPassed(request.method)
    const known = yield* reach(client, server)
    const shares = request.method === LISTEN ? streams : ofTask ? tasks : requests
    return yield* shares.within<PassedReply, ServerFailed>(
      request.consumerId,
      known.endpoint,
      pass(known, request),
      (by) => Effect.fail(refusal(by))
    )
  })
}

/** A name that needs no escapes in JSON and in headers: anything else could become a call of a tool there. */
const METHOD = /^[\w$./-]{1,128}$/u

/** Requests that change or read the state of a session. */
const OF_A_SESSION = new Set(["logging/setLevel", "resources/subscribe", "resources/unsubscribe", "tasks/list"])

const isOfOneClient = (link: Link, method: string): boolean => link.era === "legacy" && OF_A_SESSION.has(method)

const notPassed = (method: string): PassedReply => ({
  _tag: "RpcError",
  error: JSON.stringify({ code: METHOD_NOT_FOUND, message: `${method.slice(0, 128)} is not passed on as a request` })
})

const notPermitted: PassedReply = {
  _tag: "RpcError",
  error: JSON.stringify({ code: INTERNAL_ERROR, message: NOT_PERMITTED.message })
}

const needsSession = (method: string): Reply => ({
  kind: "rpc_error",
  error: { code: METHOD_NOT_FOUND, message: `${method} requires a session of the client's own at the provider` },
  text: undefined,
  status: 200,
  bytes: 0
})

const resultOf = (reply: Extract<Reply, { kind: "result" }>, request: PassedRequest): PassedReply => {
  const text = reply.text ?? JSON.stringify(reply.result)
  const result = request.method === LISTEN ? replacedAt(text, ["_meta", SUBSCRIPTION_ID], request.requestId) : text
  return {
    _tag: "Result",
    // What a provider reports of a task's cost is in its result.
    result: isOfTask(request.method) ? result : passedResult(request.method, result),
    ...(reply.release === undefined ? {} : { release: reply.release })
  }
}

/** The result with which a server ends a subscription in order. */
const endOfStream = ({ requestId }: PassedRequest): PassedReply => ({
  _tag: "Result",
  result: `{"resultType":"complete","_meta":{"${SUBSCRIPTION_ID}":${requestId}}}`
})

const ignoreBytes = () => {}
