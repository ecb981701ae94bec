/**
 * The port to everything of a provider's MCP server except calls of its tools: what it offers, and messages that are passed
 * through unbilled. Texts are JSON exactly as their author wrote them.
 */
import { Context, type Effect, Schema } from "effect"
import type { UpstreamProblem } from "./ToolUpstream.ts"
import type { ConsumerId, ProviderId } from "../shared/Ids.ts"
import type { UpstreamSession } from "./Protocol.ts"
import { isObject } from "../shared/JsonText.ts"

/** The provider whose server to ask, and its address. Circuits and sessions are kept by both. */
export interface ServerAddress {
  readonly providerId: ProviderId
  readonly endpointUrl: string
}

/** A server's description of itself. */
export interface ServerProfile {
  /** Its `initialize` opens a session; otherwise each request says who sends it. */
  readonly sessions: boolean
  readonly version: string
  readonly capabilities: string
  /** Undefined where the server sends none. */
  readonly serverInfo: string | undefined
  /** A JSON string. */
  readonly instructions: string | undefined
}

/** A tool in the list of a provider's server. */
export interface ListedTool {
  readonly name: string
  /** The whole definition, verbatim and parsed. */
  readonly text: string
  readonly definition: Readonly<Record<string, unknown>>
}

/** All pages of `tools/list`, up to the limits. Of tools with one name the first counts. */
export interface ToolList {
  readonly tools: ReadonlyArray<ListedTool>
  /** The server has more tools, or larger ones, than are read. */
  readonly truncated: boolean
  /** `_meta` of the list itself, verbatim; undefined if it has none. */
  readonly meta?: string | undefined
}

/** A client for which a list is read: servers choose the tools that they list by what a client can do. */
export interface ListClient {
  /** Its calls go through a session of its own at the server; otherwise over the connection that all clients share. */
  readonly inSession: boolean
  /** The value of `listingCapabilities`. */
  readonly capabilities: string
}

/** The capabilities that servers ask of a client, and the parts in which some differ. */
const LISTING_CAPABILITIES = { roots: [], sampling: ["context", "tools"], elicitation: ["form", "url"] } as const

/**
 * Returns the capabilities by which servers choose the tools that they list, of those that a client declares, as JSON.
 * Clients share the lists of the few possible values.
 */
export const listingCapabilities = (declared: string | undefined): string => {
  const all: unknown = JSON.parse(declared ?? "{}")
  const known = Object.entries(LISTING_CAPABILITIES).flatMap(([name, parts]) => {
    const one = isObject(all) ? all[name] : undefined
    return isObject(one)
      ? [[name, Object.fromEntries(parts.flatMap((part) => (isObject(one[part]) ? [[part, {}]] : [])))]]
      : []
  })
  return JSON.stringify(Object.fromEntries(known))
}

export const ALL_LISTING_CAPABILITIES = JSON.stringify(
  Object.fromEntries(
    Object.entries(LISTING_CAPABILITIES).map(([name, parts]) => [
      name,
      Object.fromEntries(parts.map((part) => [part, {}]))
    ])
  )
)

/** A request of a client. */
export interface PassedRequest {
  readonly method: string
  /** The client's params verbatim, but for the protocol's own `_meta` fields. Undefined without params. */
  readonly params: string | undefined
  /** The client has a session with this service; otherwise its requests say what it can do. */
  readonly inSession: boolean
  /** The client's declared capabilities. A server without sessions is told what a client without one can do. */
  readonly capabilities: string | undefined
  readonly clientInfo: string | undefined
  /** The client's own session; undefined: the one that this node shares among all clients. */
  readonly session: UpstreamSession | undefined
  /**
   * The id and the progress token of the client's request, as JSON. In the client's own session the server gets them
   * unchanged; otherwise it gets others, and its messages are rewritten.
   */
  readonly requestId: string
  readonly progressToken: string | undefined
  readonly consumerId: ConsumerId
  readonly timeoutMs: number
  /**
   * Notifications of the server that come before its response, within limits; in the client's own session also requests
   * of the server, which are declined otherwise. A text may contain line breaks between its tokens.
   */
  readonly onMessage: (message: string) => void
}

/** The result, or the error object, of a request. */
export type PassedReply =
  | {
      readonly _tag: "Result"
      readonly result: string
      /** Ends the count of a large result toward the memory limit of the service, once it has been sent. */
      readonly release?: () => void
    }
  | { readonly _tag: "RpcError"; readonly error: string }

/** The server did not answer as MCP says: nothing is known of the request. */
export class ServerFailed extends Schema.TaggedError<ServerFailed>()("ServerFailed", {
  problem: Schema.Any as Schema.Schema<UpstreamProblem>,
  /** The session is unknown to the server, which may have been restarted. */
  sessionLost: Schema.Boolean
}) {
  override get message() {
    return this.problem.message
  }
}

/** A message that a provider's server sent on its own, as JSON. */
export interface ServerEvent {
  readonly message: string
  /** The server's id of the event, where it has one. */
  readonly eventId: string | undefined
}

export class ProviderServers extends Context.Service<
  ProviderServers,
  {
    /** The profile is cached. */
    profile(server: ServerAddress): Effect.Effect<ServerProfile, ServerFailed>
    /**
     * Reads them again after `maxAgeMs`. Where the server cannot be read now, nothing older is returned. `client`: whose
     * list it is. Undefined: that of a client without capabilities, over the shared connection. `any`: all tools that
     * some client is listed, in a session or without one.
     */
    tools(server: ServerAddress, maxAgeMs: number, client?: ListClient | "any"): Effect.Effect<ToolList, ServerFailed>
    /** The handshake with a server, with the params of the client's own `initialize`. */
    initialize(
      server: ServerAddress,
      params: string,
      consumerId: ConsumerId
    ): Effect.Effect<{ readonly session: UpstreamSession; readonly result: string }, ServerFailed>
    /**
     * Interruption cancels the request at the server. `subscriptions/listen` is such a request: its
     * stream lasts until the server or the caller ends it, or its time limit.
     */
    ask(server: ServerAddress, request: PassedRequest): Effect.Effect<PassedReply, ServerFailed>
    /** A notification of a client, or its response to a request of the server. */
    tell(
      server: ServerAddress,
      session: UpstreamSession,
      message: string,
      consumerId: ConsumerId
    ): Effect.Effect<void, ServerFailed>
    /**
     * Messages that belong to no request, until the server or the caller ends the stream, or its time limit: then listen
     * again. With the id of an event, the server repeats what came after it. Fails with the HTTP status 405 where the
     * server has no such stream.
     */
    listen(
      server: ServerAddress,
      session: UpstreamSession,
      lastEventId: string | undefined,
      consumerId: ConsumerId,
      onEvent: (event: ServerEvent) => void,
      /** The capabilities of the client, as JSON: other requests of the server are declined. */
      declared?: string
    ): Effect.Effect<void, ServerFailed>
    /** Ends a client's session. */
    end(server: ServerAddress, session: UpstreamSession): Effect.Effect<void>
  }
>()("agent-tool-billing/domain/upstream/ProviderServers") {}
