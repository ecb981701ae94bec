/**
 * ProviderServers over MCP's streamable HTTP, both eras of the protocol, on the connections that tool calls use.
 */
import { Clock, Effect } from "effect"
import { isNeverPassed, isOfTask } from "../../domain/mcp/PassThrough.ts"
import { passedResult } from "../../domain/mcp/PassedResults.ts"
import { maySend } from "../../domain/mcp/ServerRequests.ts"
import { makeSingleFlight } from "../../domain/shared/FreshCache.ts"
import type { ConsumerId } from "../../domain/shared/Ids.ts"
import { memberOf, membersOf, replacedAt } from "../../domain/shared/JsonText.ts"
import { INTERNAL_ERROR, METHOD_NOT_FOUND, type UpstreamSession } from "../../domain/upstream/Protocol.ts"
import {
  type PassedReply,
  type PassedRequest,
  ProviderServers,
  type ServerAddress,
  type ServerEvent,
  type ServerFailed,
  type ServerProfile
} from "../../domain/upstream/ProviderServers.ts"
import { metaFor, ownId, paramsWith } from "./client/CallerParams.ts"
import { discover, isLink, negotiated, recordGreeting } from "./client/Handshake.ts"
import { idOf, type JsonObject, messagesOf, requestBody, type RpcId, tokenOf } from "./client/JsonRpc.ts"
import { type Answered, overSharedLink, repairOf } from "./client/LinkRepair.ts"
import type { McpClient } from "./client/McpClient.ts"
import { type Link, listenHeaders, modernLink, postHeaders } from "./client/Dialect.ts"
import type { Greeting, Message, ProviderEndpoint } from "./client/ProviderEndpoint.ts"
import type { KnownEndpoint } from "./client/ProviderEndpoints.ts"
import type { SignedFor } from "./client/ProviderSignature.ts"
import { fault, type Reply } from "./client/Reply.ts"
import { resumed } from "./legacy/Resumption.ts"
import {
  failureOf,
  knownEndpoint,
  notTold,
  reach,
  reachUnprobed,
  refusal,
  sessionFailureOf
} from "./client/ServerFailures.ts"
import { serverMessages, SUBSCRIPTION_ID } from "./client/ServerMessages.ts"
import { Shares, withinRate } from "./client/Shares.ts"
import { makeToolLists } from "./ToolLists.ts"
import { isPermitted, NOT_PERMITTED } from "./client/UpstreamOutcome.ts"

// A client's request as the provider's server gets it: params verbatim, always with an id of the service, and with the
// progress token of the client in its own session only.

export const LISTEN = "subscriptions/listen"

export const passedMessage = (
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
    headers: postHeaders(link, request.method, link.era === "modern" ? nameOf(request) : undefined),
    body: requestBody(idText, request.method, params),
    id,
    link,
    timeoutMs,
    subject: subjectOf(request),
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

/** Belongs to a consumer, but to no call. */
export const subjectOf = ({ consumerId }: Pick<PassedRequest, "consumerId">): SignedFor => ({
  consumerId,
  toolName: "-",
  invocationId: "-"
})

/** What the header `Mcp-Name` repeats. */
const namedBy: Readonly<Record<string, string>> = {
  "prompts/get": "name",
  "resources/read": "uri",
  "tasks/cancel": "taskId",
  "tasks/get": "taskId",
  "tasks/update": "taskId"
}

const nameOf = ({ method, params }: PassedRequest): string | undefined => {
  const name = Object.hasOwn(namedBy, method) ? namedBy[method] : undefined
  if (name === undefined || params === undefined) return undefined
  const [parsed]: ReadonlyArray<JsonObject> = messagesOf(params) ?? []
  const value = parsed?.[name]
  return typeof value === "string" ? value : undefined
}

// What servers say of themselves: the result of the handshake, read again where the era has no session that would tell of a
// restart.

export const makeServerProfiles = Effect.fnUntraced(function* (client: McpClient) {
  const { nowMs, options } = client
  const reads = yield* makeSingleFlight<ServerProfile>(yield* Clock.Clock)

  const isFresh = ({ atMs, era }: Greeting): boolean => era === "legacy" || nowMs() - atMs < options.profileTtlMs

  const read = Effect.fnUntraced(function* ({
    endpoint,
    sessions
  }: KnownEndpoint): Effect.fn.Return<ServerProfile, ServerFailed> {
    const link = sessions.shared ?? (yield* sessions.with(options.setupTimeoutMs, Effect.succeed))
    if (!isLink(link)) {
      if (link.kind === "connection") endpoint.circuit.failed(nowMs())
      return yield* failureOf(client, link)
    }
    if (link.era === "modern" && !(endpoint.greeting?.era === "modern" && isFresh(endpoint.greeting))) {
      const reply = yield* discover(endpoint, options.setupTimeoutMs)
      if (reply.kind !== "result") return yield* failureOf(client, reply, link)
      recordGreeting(endpoint, modernLink, reply, nowMs())
    }
    const { greeting } = endpoint
    return greeting === undefined || greeting.era !== link.era
      ? yield* failureOf(client, unread, link)
      : yield* profileOf(greeting)
  })

  const profileOf = ({ era, text, version }: Greeting): Effect.Effect<ServerProfile, ServerFailed> => {
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
      era,
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
    if (greeting !== undefined && shared?.era === greeting.era && isFresh(greeting)) return yield* profileOf(greeting)
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

// A client's own session at a provider's server of the legacy era: its handshake, its messages, the stream of messages that
// belong to no request, and its end.

export const makeClientSessions = (client: McpClient, messages: Shares, streams: Shares) => {
  const { nowMs, options } = client

  const send = (
    endpoint: ProviderEndpoint,
    message: Message,
    consumerId: ConsumerId
  ): Effect.Effect<Reply, ServerFailed> =>
    messages.within<Reply, ServerFailed>(
      consumerId,
      endpoint,
      endpoint.ask({ ...message, subject: subjectOf({ consumerId }) }),
      (by) => Effect.fail(refusal(by))
    )

  const initialize = Effect.fn("ProviderServers.initialize")(function* (
    server: ServerAddress,
    params: string,
    consumerId: ConsumerId
  ) {
    const { endpoint } = yield* reach(client, server)
    const id = endpoint.nextId()
    const headers = postHeaders(undefined, "initialize")
    const body = requestBody(id, "initialize", params)
    const { setupTimeoutMs: timeoutMs } = options
    const reply = yield* send(endpoint, { headers, body, id, link: undefined, timeoutMs }, consumerId)
    if (reply.kind === "result") reply.release?.()
    const link = negotiated(reply)
    if (!isLink(link)) {
      if (link.kind === "connection") endpoint.circuit.failed(nowMs())
      return yield* failureOf(client, link)
    }
    endpoint.circuit.succeeded()
    const result = reply.kind === "result" ? (reply.text ?? JSON.stringify(reply.result)) : "{}"
    const { sessionId, version } = link
    return { session: { version, sessionId }, result }
  })

  const tell = Effect.fn("ProviderServers.tell")(function* (
    server: ServerAddress,
    session: UpstreamSession,
    message: string,
    consumerId: ConsumerId
  ) {
    const body = passedBody(message)
    if (body === undefined) return yield* notTold
    const { endpoint } = yield* reachUnprobed(client, server)
    const link = linkOf(session)
    const headers = postHeaders(link, "")
    const { setupTimeoutMs: timeoutMs } = options
    const reply = yield* send(endpoint, { headers, body, id: undefined, link, timeoutMs }, consumerId)
    if (reply.kind !== "accepted") return yield* sessionFailureOf(client, reply, link)
  })

  const listen = Effect.fn("ProviderServers.listen")(function* (
    server: ServerAddress,
    session: UpstreamSession,
    lastEventId: string | undefined,
    consumerId: ConsumerId,
    onEvent: (event: ServerEvent) => void,
    declared?: string
  ) {
    const { endpoint } = yield* reachUnprobed(client, server)
    const link = linkOf(session)
    const stream = withinRate(client, (onEach) =>
      Effect.map(
        endpoint.ask({
          http: "GET",
          headers: listenHeaders(link, lastEventId),
          body: "",
          id: undefined,
          link,
          timeoutMs: options.listenMsMax,
          subject: subjectOf({ consumerId }),
          listening: true,
          onMessage: (message, text, eventId) => {
            // A response belongs to a request, whose own stream has it.
            if (typeof message["method"] !== "string") return true
            if (message["id"] !== undefined && !maySend(declared, message, text)) return false
            if (message["method"] === "notifications/tools/list_changed") endpoint.toolsChanged()
            onEach(() => onEvent({ message: text, eventId }))
            return true
          }
        }),
        (reply) => ({ link, reply })
      )
    )
    const { reply } = yield* streams.within<Answered, ServerFailed>(consumerId, endpoint, stream, (by) =>
      Effect.fail(refusal(by))
    )
    // A stream may end at any time. One that never began is a failure.
    if (reply.kind !== "accepted" && reply.kind !== "timeout") return yield* sessionFailureOf(client, reply, link)
  })

  const end = Effect.fn("ProviderServers.end")(function* (server: ServerAddress, session: UpstreamSession) {
    if (session.sessionId === undefined) return
    const known = client.endpoints.of(server.providerId, server.endpointUrl, nowMs())
    if (typeof known === "object") yield* known.endpoint.endSession(linkOf(session))
  })

  return { initialize, tell, listen, end }
}

/**
 * Only the members of a notification or a response, each verbatim: a server that does not distinguish upper and lower case,
 * or takes the first of two members, could read any other text as a call of a tool.
 */
const passedBody = (message: string): string | undefined => {
  const members = new Map(membersOf(message).map(({ name, text }) => [name, text]))
  const method = members.get("method")
  if (method === undefined ? !members.has("id") : !isNotification(method)) return undefined
  const names = method === undefined ? ["id", "result", "error"] : ["method", "params"]
  const passed = names.flatMap((name) => (members.has(name) ? [`"${name}":${members.get(name)}`] : []))
  return `{"jsonrpc":"2.0",${passed.join(",")}}`
}

const isNotification = (json: string): boolean => {
  const method = idOf(json)
  return typeof method === "string" && /^notifications\/[\w$./-]{1,128}$/u.test(method)
}

const linkOf = (session: UpstreamSession): Link => ({ era: "legacy", ...session })

export const makeProviderServers = Effect.fnUntraced(function* (client: McpClient) {
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
  // Apart from the requests: one of these may wait for such a message of its client.
  const messages = new Shares(passed)
  // A caller who uses up its own share must not keep the service from asking what it has to pay for.
  const tasks = new Shares({ ...passed, perConsumer: Number.POSITIVE_INFINITY })
  return ProviderServers.of({
    profile: yield* makeServerProfiles(client),
    tools: yield* makeToolLists(client),
    ask: makePassedRequests(client, requests, streams, tasks),
    ...makeClientSessions(client, messages, streams)
  })
})
