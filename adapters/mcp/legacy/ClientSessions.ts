/**
 * A client's own session at a provider's server: its handshake, its messages, the stream of messages that belong to no request,
 * and its end.
 */
import { Effect } from "effect"
import { maySend } from "../../../domain/mcp/ServerRequests.ts"
import type { ConsumerId } from "../../../domain/shared/Ids.ts"
import { membersOf } from "../../../domain/shared/JsonText.ts"
import type { UpstreamSession } from "../../../domain/upstream/Protocol.ts"
import type { ServerAddress, ServerEvent } from "../../../domain/upstream/ProviderServers.ts"
import { type Link, type Message, postHeaders } from "../client/Dialect.ts"
import { isEventId } from "../client/HttpExchange.ts"
import { idOf, requestBody } from "../client/JsonRpc.ts"
import type { McpClient } from "../client/McpClient.ts"
import type { ProviderEndpoint } from "../client/ProviderEndpoint.ts"
import { isLink } from "../client/ProviderEndpoints.ts"
import { ofConsumer } from "../client/ProviderSignature.ts"
import { type Shares, withinRate } from "../client/Shares.ts"
import { failureOf, notTold, reach, reachUnprobed, sessionFailureOf } from "../client/UpstreamOutcome.ts"
import { appendSession, legacyDialect, negotiated } from "./LegacyDialect.ts"

export const makeClientSessions = (client: McpClient, messages: Shares, streams: Shares) => {
  const { nowMs, options } = client

  const send = (endpoint: ProviderEndpoint, message: Message, consumerId: ConsumerId) =>
    messages.within(consumerId, endpoint, endpoint.ask({ ...message, subject: ofConsumer(consumerId) }))

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
    const link = legacyDialect.linkOf(session)
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
    const link = legacyDialect.linkOf(session)
    const stream = withinRate(client, (onEach) =>
      Effect.map(
        endpoint.ask({
          http: "GET",
          headers: listenHeaders(link, lastEventId),
          body: "",
          id: undefined,
          link,
          timeoutMs: options.listenMsMax,
          subject: ofConsumer(consumerId),
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
    const { reply } = yield* streams.within(consumerId, endpoint, stream)
    // A stream may end at any time. One that never began is a failure.
    if (reply.kind !== "accepted" && reply.kind !== "timeout") return yield* sessionFailureOf(client, reply, link)
  })

  const end = Effect.fn("ProviderServers.end")(function* (server: ServerAddress, session: UpstreamSession) {
    const known = client.endpoints.of(server.providerId, server.endpointUrl, nowMs())
    if (typeof known === "object") yield* legacyDialect.end(known.endpoint, legacyDialect.linkOf(session))
  })

  return { initialize, tell, listen, end }
}

/**
 * Returns only the members of a notification or a response, each verbatim: a server that does not distinguish upper and
 * lower case, or takes the first of two members, could read any other text as a call of a tool.
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

const listenHeaders = (link: Link, lastEventId: string | undefined): Array<string> => {
  const headers = ["accept", "text/event-stream"]
  if (lastEventId !== undefined && isEventId(lastEventId)) headers.push("last-event-id", lastEventId)
  appendSession(headers, link)
  return headers
}
