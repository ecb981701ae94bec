/**
 * The input of an HTTP exchange with an MCP server, and its callbacks.
 */
import type { ResponseBytes } from "./ResponseBytes.ts"
import type { Dispatcher } from "undici"
import type { ToolProgress } from "../../domain/metering/ToolUpstream.ts"
import type { ServerRequest } from "./JsonRpc.ts"
import type { McpUpstreamOptions } from "./McpUpstreamOptions.ts"
import type { Link } from "./ProtocolEra.ts"

export interface ExchangeRequest {
  readonly method: "POST" | "GET" | "DELETE"
  readonly path: string
  /** Name, value, name, value. */
  readonly headers: Array<string>
  readonly body: string
  /** The request that is awaited; undefined for a message without a response. */
  readonly id: number | undefined
  readonly link: Link | undefined
  readonly timeoutMs: number
  /** The billed consumer; empty for requests that belong to no call. */
  readonly consumer: string
  /** Receives progress of the request; its token is the request's id. */
  readonly onProgress?: ((progress: ToolProgress) => void) | undefined
}

export type ExchangeOptions = Pick<McpUpstreamOptions, "responseBodyBytesMax" | "lingerMs">

/** The owner of an exchange. */
export interface ExchangeHost {
  readonly dispatcher: Dispatcher
  readonly provider: string
  readonly answerBytes: ResponseBytes
  /** undici has finished with the request: it holds neither a socket nor a place in the queue. */
  released(): void
  serverAsked(asked: ServerRequest, link: Link | undefined): void
}
