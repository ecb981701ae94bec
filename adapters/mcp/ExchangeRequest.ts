/**
 * What an HTTP exchange with an MCP server is given, and whom it tells.
 */
import type { AnswerBytes } from "./AnswerBytes.ts"
import type { Dispatcher } from "undici"
import type { ToolProgress } from "../../domain/metering/ToolUpstream.ts"
import type { ServerRequest } from "./JsonRpc.ts"
import type { Link } from "./ProtocolEra.ts"

export interface ExchangeRequest {
  readonly method: "POST" | "GET" | "DELETE"
  readonly path: string
  /** Name, value, name, value. */
  readonly headers: Array<string>
  readonly body: string
  /** The request whose answer is awaited; undefined for a message that has none. */
  readonly id: number | undefined
  readonly link: Link | undefined
  readonly timeoutMs: number
  /** Who is billed for the call; empty for what is nobody's call. */
  readonly consumer: string
  readonly onProgress?: ((progress: ToolProgress) => void) | undefined
}

export interface ExchangeOptions {
  readonly responseBodyBytesMax: number
  readonly lingerMs: number
}

/** What an exchange belongs to. */
export interface ExchangeHost {
  readonly dispatcher: Dispatcher
  readonly provider: string
  readonly answerBytes: AnswerBytes
  /** undici is done with the request: it holds neither a socket nor a place in the queue any more. */
  released(): void
  serverAsked(asked: ServerRequest, link: Link | undefined): void
}
