/**
 * The input of an HTTP exchange with an MCP server, and its callbacks.
 */
import type { ResponseBytes } from "./ResponseBytes.ts"
import type { Dispatcher } from "undici"
import type { ToolProgress } from "../../domain/upstream/ToolUpstream.ts"
import type { JsonObject, RpcId, ServerRequest } from "./JsonRpc.ts"
import type { McpUpstreamOptions } from "./McpUpstreamOptions.ts"
import type { Link } from "./ProtocolEra.ts"

export interface ExchangeRequest {
  readonly method: "POST" | "GET" | "DELETE"
  readonly path: string
  /** Name, value, name, value. */
  readonly headers: Array<string>
  readonly body: string
  /** The request that is awaited; undefined for a message without a response. */
  readonly id: RpcId | undefined
  readonly link: Link | undefined
  readonly timeoutMs: number
  /** Added to the time limit; it may change. */
  readonly extraMs?: (() => number) | undefined
  /** The billed consumer; empty for requests that belong to no call. */
  readonly consumer: string
  /** Receives progress of the request; its token is the request's id. */
  readonly onProgress?: ((progress: ToolProgress) => void) | undefined
  /** Receives the other messages of the server, parsed and verbatim. True: nothing answers it here. */
  readonly onMessage?: ((message: JsonObject, text: string, eventId: string | undefined) => boolean) | undefined
  /** A stream of messages that is not limited in size: none of them is kept. */
  readonly listening?: boolean | undefined
}

export type ExchangeOptions = Pick<McpUpstreamOptions, "responseBodyBytesMax" | "messageBytesMax" | "lingerMs">

/** The owner of an exchange. */
export interface ExchangeHost {
  readonly dispatcher: Dispatcher
  /** For streams that last: they do not take the sockets of calls. */
  readonly streams: Dispatcher
  readonly provider: string
  readonly answerBytes: ResponseBytes
  /** undici has finished with the request: it holds neither a socket nor a place in the queue. */
  released(listening: boolean): void
  serverAsked(asked: ServerRequest, link: Link | undefined): void
}
