/**
 * The port to everything of a provider's MCP server except calls of its tools: what it offers, and messages that are passed
 * through unbilled. Texts are JSON exactly as their author wrote them.
 */
import { Context, type Effect, Schema } from "effect"
import type { UpstreamProblem } from "../metering/ToolUpstream.ts"
import type { ConsumerId, ProviderId } from "../shared/Ids.ts"
import type { McpEra, UpstreamSession } from "./Protocol.ts"

export interface ServerAddress {
  readonly providerId: ProviderId
  readonly endpointUrl: string
}

/** What a server says of itself. */
export interface ServerProfile {
  readonly era: McpEra
  readonly version: string
  readonly capabilities: string
  readonly serverInfo: string
  readonly instructions: string | undefined
}

export interface ListedTool {
  readonly name: string
  /** The whole definition, verbatim and parsed. */
  readonly text: string
  readonly definition: Readonly<Record<string, unknown>>
}

/** All pages of `tools/list`, up to the limits. */
export interface ToolList {
  readonly tools: ReadonlyArray<ListedTool>
  /** The server has more tools, or larger ones, than are read. */
  readonly truncated: boolean
}

/** A request of a client. */
export interface PassedRequest {
  readonly method: string
  /** The params without the protocol's own `_meta` fields, which are written anew; undefined without params. */
  readonly params: string | undefined
  /** What the client can do, as it declared: passed on to a server of the same era. */
  readonly capabilities: string | undefined
  readonly clientInfo: string | undefined
  /** The client's own session; undefined: the one that this node shares among all clients. */
  readonly session: UpstreamSession | undefined
  readonly consumerId: ConsumerId
  readonly timeoutMs: number
  /** Notifications and requests of the server that come before its response. */
  readonly onMessage: (message: string) => void
}

/** The result, or the error object, of a request. */
export type PassedReply =
  | { readonly _tag: "Result"; readonly result: string }
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

export interface ServerEvent {
  readonly message: string
  /** The server's id of the event, where it has one. */
  readonly eventId: string | undefined
}

export class ProviderServers extends Context.Service<
  ProviderServers,
  {
    /** Cached. */
    profile(server: ServerAddress): Effect.Effect<ServerProfile, ServerFailed>
    /** Read again after `maxAgeMs`. Where the server cannot be read now, nothing older is returned. */
    tools(server: ServerAddress, maxAgeMs: number): Effect.Effect<ToolList, ServerFailed>
    /** The handshake with a server of the legacy era, with the params of the client's own `initialize`. */
    initialize(
      server: ServerAddress,
      params: string,
      consumerId: ConsumerId
    ): Effect.Effect<{ readonly session: UpstreamSession; readonly result: string }, ServerFailed>
    /** Interruption cancels the request at the server. */
    ask(server: ServerAddress, request: PassedRequest): Effect.Effect<PassedReply, ServerFailed>
    /** A notification of a client, or its response to a request of the server. */
    tell(
      server: ServerAddress,
      session: UpstreamSession,
      message: string,
      consumerId: ConsumerId
    ): Effect.Effect<void, ServerFailed>
    /** Messages that belong to no request, until the server or the caller ends the stream. */
    listen(
      server: ServerAddress,
      session: UpstreamSession,
      lastEventId: string | undefined,
      onEvent: (event: ServerEvent) => void
    ): Effect.Effect<void, ServerFailed>
    /** Ends a client's session. */
    end(server: ServerAddress, session: UpstreamSession): Effect.Effect<void>
  }
>()("agent-tool-billing/domain/mcp/ProviderServers") {}
