/**
 * ProviderServers over MCP's streamable HTTP, on the connections that tool calls use.
 */
import { Clock, Effect } from "effect"
import { NAMED_BY } from "../../domain/mcp/HeaderParameters.ts"
import { isNeverPassed, isOfTask } from "../../domain/mcp/PassThrough.ts"
import { passedResult } from "../../domain/mcp/PassedResults.ts"
import { makeSingleFlight } from "../../domain/shared/FreshCache.ts"
import { memberOf, replacedAt } from "../../domain/shared/JsonText.ts"
import { INTERNAL_ERROR, METHOD_NOT_FOUND, SUBSCRIPTION_META } from "../../domain/upstream/Protocol.ts"
import {
  type PassedReply,
  type PassedRequest,
  ProviderServers,
  type ServerAddress,
  type ServerFailed,
  type ServerProfile
} from "../../domain/upstream/ProviderServers.ts"
import { makeToolLists } from "./ToolLists.ts"
import { type Link, type Message, metaFor, ownId, paramsWith, postHeaders } from "./client/Dialect.ts"
import { fault, type Reply } from "./client/HttpExchange.ts"
import { idOf, messagesOf, requestBody, type RpcId, tokenOf } from "./client/JsonRpc.ts"
import { type Answered, overSharedLink, repairOf } from "./client/LinkRepair.ts"
import type { McpClient } from "./client/McpClient.ts"
import type { Greeting, ProviderEndpoint } from "./client/ProviderEndpoint.ts"
import { isLink, type KnownEndpoint, recordGreeting } from "./client/ProviderEndpoints.ts"
import { ofConsumer } from "./client/ProviderSignature.ts"
import { serverMessages } from "./client/ServerMessages.ts"
import { Shares, withinRate } from "./client/Shares.ts"
import {
  failureOf,
  isPermitted,
  knownEndpoint,
  NOT_PERMITTED,
  reach,
  sessionFailureOf
} from "./client/UpstreamOutcome.ts"

// A client's request as the provider's server gets it: params verbatim, always with an id of the service, and with the
// progress token of the client in its own session only.

const LISTEN = "subscriptions/listen"

const passedMessage = (
  endpoint: ProviderEndpoint,
  link: Link,
  request: PassedRequest,
  onMessage: (message: string) => void,
  timeoutMs: number
): Message => {
  const own = request.session !== undefined
  const listening = request.method === LISTEN
  const id: RpcId = own ? ownId("passed") : endpoint.nextId()
  const idText = JSON.stringify(id)
  const token = tokenOf(request.progressToken)
  const sent = token === undefined ? undefined : own ? token : idText
  const params = paramsWith(request.params, (meta) =>
    metaFor(link, request, meta, { meta: endpoint.metaMembers, progressToken: sent })
  )
  return {
    headers: postHeaders(link, request.method, nameOf(request)),
    body: requestBody(idText, request.method, params),
    id,
    link,
    timeoutMs,
    subject: ofConsumer(request.consumerId),
    listening,
    onMessage: serverMessages(
      endpoint,
      {
        own,
        declared: request.capabilities,
        sentAs: sent === undefined ? undefined : idOf(sent),
        token,
        subscriptionId: listening ? request.requestId : undefined,
        onMessage
      },
      listening ? Number.POSITIVE_INFINITY : endpoint.options.messagesMax
    )
  }
}

const nameOf = ({ method, params }: PassedRequest): string | undefined => {
  const name = NAMED_BY.get(method)
  if (name === undefined || params === undefined) return undefined
  const value = messagesOf(params)?.[0]?.[name]
  return typeof value === "string" ? value : undefined
}

// A server's description of itself: the result of the handshake, read again where no session would tell of a restart.

const makeServerProfiles = Effect.fnUntraced(function* (client: McpClient) {
  const { nowMs, options } = client
  const reads = yield* makeSingleFlight<ServerProfile>(yield* Clock.Clock)

  const isFresh = ({ atMs, dialect }: Greeting): boolean =>
    dialect.reread === undefined || nowMs() - atMs < options.profileTtlMs

  const read = Effect.fnUntraced(function* ({
    endpoint,
    sessions
  }: KnownEndpoint): Effect.fn.Return<ServerProfile, ServerFailed> {
    const link = sessions.shared ?? (yield* sessions.with(options.setupTimeoutMs, Effect.succeed))
    if (!isLink(link)) {
      if (link.kind === "connection") endpoint.circuit.failed(nowMs())
      return yield* failureOf(client, link)
    }
    const { reread } = link.dialect
    const isKnown = endpoint.greeting?.dialect === link.dialect && isFresh(endpoint.greeting)
    if (reread !== undefined && !isKnown) {
      const reply = yield* reread(endpoint, options.setupTimeoutMs)
      if (reply.kind !== "result") return yield* failureOf(client, reply, link)
      recordGreeting(endpoint, link, reply)
    }
    const { greeting } = endpoint
    return greeting === undefined || greeting.dialect !== link.dialect
      ? yield* failureOf(client, unread, link)
      : yield* profileOf(greeting)
  })

  const profileOf = ({ dialect, text, version }: Greeting): Effect.Effect<ServerProfile, ServerFailed> => {
    if (text === undefined) {
      return Effect.fail(
        failureOf(
          client,
          fault("too_large", `The provider's server describes itself in more than ${options.profileBytesMax} bytes`)
        )
      )
    }
    const meta = memberOf(text, 0, "_meta")
    const instructions = memberOf(text, 0, "instructions")
    return Effect.succeed({
      sessions: dialect.sessions,
      version,
      capabilities: objectOr(memberOf(text, 0, "capabilities")) ?? "{}",
      serverInfo:
        objectOr(memberOf(text, 0, "serverInfo")) ??
        objectOr(objectOr(meta) === undefined ? undefined : memberOf(meta!, 0, "io.modelcontextprotocol/serverInfo")),
      instructions: instructions?.startsWith('"') === true ? instructions : undefined
    })
  }

  return Effect.fn("ProviderServers.profile")(function* (
    server: ServerAddress
  ): Effect.fn.Return<ServerProfile, ServerFailed> {
    const {
      endpoint: { greeting },
      sessions: { shared }
    } = yield* knownEndpoint(client, server)
    if (greeting !== undefined && shared?.dialect === greeting.dialect && isFresh(greeting))
      return yield* profileOf(greeting)
    return yield* reads.join(
      `${server.providerId} ${server.endpointUrl}`,
      Effect.andThen(reach(client, server), read),
      ignore
    )
  })
})

const objectOr = (text: string | undefined): string | undefined => (text?.startsWith("{") === true ? text : undefined)

const unread = fault("malformed", "The provider's server did not say what it offers")

const ignore = () => {}

// Passes requests of clients to providers' servers, except calls of tools, which are billed.

const makePassedRequests = (client: McpClient, requests: Shares, streams: Shares, tasks: Shares) => {
  const { nowMs, options } = client

  const answeredOver = (
    known: KnownEndpoint,
    request: PassedRequest,
    untilMs: number,
    onMessage: (message: string) => void
  ): Effect.Effect<Answered> => {
    const { endpoint } = known
    const leftMs = () => endpoint.leftMs(untilMs)
    const send = (link: Link) =>
      Effect.suspend(() =>
        request.session === undefined && link.dialect.isOfOneClient(request.method)
          ? Effect.succeed(needsSession(request.method))
          : endpoint.askAndResume(passedMessage(endpoint, link, request, onMessage, leftMs()), untilMs)
      )
    if (request.session === undefined) return overSharedLink(known, leftMs, send)
    const link = endpoint.sessionDialect.linkOf(request.session)
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
    if (!ofTask && (isNeverPassed(request.method) || !METHOD.test(request.method))) {
      return rejected(METHOD_NOT_FOUND, `${request.method.slice(0, 128)} is not passed on as a request`)
    }
    const known = yield* reach(client, server)
    const shares = request.method === LISTEN ? streams : ofTask ? tasks : requests
    return yield* shares.within(request.consumerId, known.endpoint, pass(known, request))
  })
}

/** A name that needs no escapes in JSON and in headers: anything else could become a call of a tool there. */
const METHOD = /^[\w$./-]{1,128}$/u

const rejected = (code: number, message: string): PassedReply => ({
  _tag: "RpcError",
  error: JSON.stringify({ code, message })
})

const notPermitted = rejected(INTERNAL_ERROR, NOT_PERMITTED.message)

const needsSession = (method: string): Reply => ({
  kind: "rpc_error",
  error: { code: METHOD_NOT_FOUND, message: `${method} requires a session of the client's own at the provider` },
  text: undefined,
  status: 200,
  bytes: 0
})

const resultOf = (reply: Extract<Reply, { kind: "result" }>, request: PassedRequest): PassedReply => {
  const text = reply.text ?? JSON.stringify(reply.result)
  const result = request.method === LISTEN ? replacedAt(text, ["_meta", SUBSCRIPTION_META], request.requestId) : text
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
  result: `{"resultType":"complete","_meta":{"${SUBSCRIPTION_META}":${requestId}}}`
})

type Sessions = Pick<ProviderServers["Service"], "end" | "initialize" | "listen" | "tell">

export const makeProviderServers = Effect.fnUntraced(function* (
  client: McpClient,
  sessionsOf: (client: McpClient, messages: Shares, streams: Shares) => Sessions
) {
  const { options } = client
  const streams = new Shares({
    total: options.listenersMax,
    perConsumer: options.listenersPerConsumerMax,
    perEndpoint: options.listenersPerEndpointMax
  })
  const passed = {
    total: Number.POSITIVE_INFINITY,
    perConsumer: options.passedPerConsumerMax,
    perEndpoint: options.passedPerEndpointMax
  }
  const requests = new Shares(passed)
  // Messages have shares of their own, because a request may wait for such a message of its client.
  const messages = new Shares(passed)
  // A caller who uses up its own share must not keep the service from asking what it has to pay for.
  const tasks = new Shares({ ...passed, perConsumer: Number.POSITIVE_INFINITY })
  return ProviderServers.of({
    profile: yield* makeServerProfiles(client),
    tools: yield* makeToolLists(client),
    ask: makePassedRequests(client, requests, streams, tasks),
    ...sessionsOf(client, messages, streams)
  })
})
