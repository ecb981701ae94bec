/**
 * One HTTP request to an MCP server and its reply, on undici's `dispatch`: JSON or an event stream, with a deadline, a
 * size limit and no redirects. Ends in exactly one Reply, or in none after a cancellation.
 *
 * Measured optimizations: a handler object instead of a promise per request, string bodies, and the dispatches of one
 * turn of the event loop sent together.
 */
import { createParser, type EventSourceParser } from "eventsource-parser"
import type { IncomingHttpHeaders } from "node:http"
import { StringDecoder } from "node:string_decoder"
import type { Dispatcher } from "undici"
import { rawMember, rawMessage, rawResult } from "../../../domain/shared/JsonText.ts"
import type { ToolProgress } from "../../../domain/upstream/ToolUpstream.ts"
import { AddressRejected } from "../egress/GuardedEgress.ts"
import {
  answerTo,
  errorOf,
  type JsonObject,
  messagesOf,
  progressOf,
  type RpcError,
  type RpcId,
  type RpcResponse,
  type ServerRequest,
  serverRequestOf
} from "./JsonRpc.ts"
import type { McpUpstreamOptions } from "./McpUpstreamOptions.ts"
import { type ResponseBytes, type ResponseReader, UNCOUNTED_BYTES } from "./ResponseBytes.ts"

// The result of one HTTP exchange with an MCP server, before it is interpreted for a call.

export type FaultKind =
  | "blocked"
  | "connection"
  | "timeout"
  | "too_large"
  | "malformed"
  /** Not sent: too many requests are in flight. */
  | "overloaded"
  /** Dropped while it was read: too many bytes of responses are in memory. */
  | "no_room"
  /** Not sent: the tool's own definition forbids it. */
  | "unusable"

export type Reply =
  /** The JSON-RPC result of the request. */
  | {
      readonly kind: "result"
      readonly result: JsonObject
      /** Verbatim. */
      readonly text: string | undefined
      readonly sessionId: string | undefined
      readonly bytes: number
      /** Call it when nothing of a large response is needed. */
      readonly release?: () => void
    }
  /** The JSON-RPC error of the request, with a status that is not an error itself. */
  | {
      readonly kind: "rpc_error"
      readonly error: RpcError
      /** Verbatim. */
      readonly text: string | undefined
      readonly status: number
      readonly bytes: number
    }
  /** Any other status than 2xx without such an error, and every 429 and 5xx. */
  | {
      readonly kind: "status"
      readonly status: number
      readonly error: RpcError | undefined
      /** The `Retry-After` header, verbatim. */
      readonly retryAfter: string | undefined
      readonly bytes: number
    }
  /** 2xx for a message without a response, and the end of a stream of messages. */
  | { readonly kind: "accepted"; readonly bytes: number }
  /** The stream ended before the response, and the server said how to resume it. */
  | {
      readonly kind: "resumable"
      readonly lastEventId: string
      readonly retryMs: number | undefined
      readonly bytes: number
    }
  | {
      readonly kind: FaultKind
      readonly message: string
      readonly bytes: number
    }

export const fault = (kind: FaultKind, message: string, bytes = 0): Reply => ({ kind, message, bytes })

export const interrupted = fault("connection", "The provider's response was interrupted")

/** Translates undici's error; `answering` if the response had started. */
const faultOf = (error: Error, answering: boolean, bytes: number): Reply => {
  if (error instanceof AddressRejected) return fault("blocked", "The service may not call the provider's address")
  const code = "code" in error ? error.code : undefined
  if (code === "UND_ERR_HEADERS_OVERFLOW") return fault("too_large", "The provider's headers are too large", bytes)
  if (code === "UND_ERR_CONNECT_TIMEOUT") return fault("connection", "The provider could not be reached in time")
  if (error.name === "HTTPParserError") return fault("malformed", "The provider does not speak HTTP", bytes)
  return fault(
    "connection",
    answering ? "The provider's response was interrupted" : "The connection to the provider failed",
    bytes
  )
}

// The input of an HTTP exchange with an MCP server, and its callbacks.

export interface ExchangeRequest {
  readonly method: "POST" | "GET" | "DELETE"
  readonly path: string
  /** Name, value, name, value. */
  readonly headers: Array<string>
  readonly body: string
  /** The request that is awaited; undefined for a message without a response. */
  readonly id: RpcId | undefined
  readonly timeoutMs: number
  /** Added to the time limit; it may change. */
  readonly extraMs?: (() => number) | undefined
  /** The billed consumer; empty for requests that belong to no call. */
  readonly consumer: string
  /** Receives progress of the request; its token is the request's id. */
  readonly onProgress?: ((progress: ToolProgress) => void) | undefined
  /** Receives the other messages of the server, parsed and verbatim. True: nothing answers it here. */
  readonly onMessage?: ((message: JsonObject, text: string, eventId: string | undefined) => boolean) | undefined
  /** Receives the first requests of the server that nothing else answers. */
  readonly onAsked: (asked: ServerRequest) => void
  /** A stream of messages that is not limited in size: none of them is kept. */
  readonly listening?: boolean | undefined
}

export type ExchangeOptions = Pick<McpUpstreamOptions, "responseBodyBytesMax" | "messageBytesMax" | "lingerMs">

/** The owner of an exchange. */
export interface ExchangeHost {
  readonly dispatcher: Dispatcher
  /** Streams that last do not take the sockets of calls. */
  readonly streams: Dispatcher
  readonly provider: string
  readonly answerBytes: ResponseBytes
  /** undici has finished with the request: it holds neither a socket nor a place in the queue. */
  released(listening: boolean): void
}

export interface ServerSentEvent {
  readonly event: string
  readonly data: string
}

/** Parses an event stream, in time linear in its bytes. The caller limits their number. */
export class ServerSentEvents {
  /** The last event that had an id; a reconnection sends it. */
  lastEventId: string | undefined = undefined
  /** The wait before a reconnection that the server requested. */
  retryMs: number | undefined = undefined
  /** The own id of the event that is delivered. */
  eventId: string | undefined = undefined

  private readonly decoder = new StringDecoder("utf8")
  private readonly parser: EventSourceParser

  constructor(onEvent: (event: ServerSentEvent) => void) {
    this.parser = createParser({
      // An event without data only tells from where to resume.
      onId: (id) => (this.lastEventId = id === "" ? undefined : id),
      onRetry: (ms) => ms <= RETRY_MS_MAX && (this.retryMs = ms),
      onEvent: ({ data, event = "", id }) => {
        this.eventId = id
        onEvent({ event, data })
      }
    })
  }

  push(chunk: Buffer): void {
    this.parser.feed(this.decoder.write(chunk))
  }
}

const RETRY_MS_MAX = 999_999_999

/** The two content types of MCP responses. */
const isJson = (type: string): boolean =>
  type === "application/json" || /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/iu.test(type)
const isEventStream = (type: string): boolean => /^text\/event-stream\s*(?:;|$)/iu.test(type)

export class HttpExchange implements Dispatcher.DispatchHandler, ResponseReader {
  /** True once the server may have seen the request. */
  sent = false

  readonly provider: string
  readonly consumer: string
  private readonly request: ExchangeRequest
  private readonly options: ExchangeOptions
  private readonly host: ExchangeHost
  private readonly done: (reply: Reply) => void
  private readonly listening: boolean
  private readonly bytesMax: number
  private controller: Dispatcher.DispatchController | undefined = undefined
  private timer: NodeJS.Timeout
  /** The time for which the timer was set. */
  private timedMs: number
  private settled = false
  private released = false
  private status = 0
  private bytes = 0
  private passedBytes = 0
  private reading: "nothing" | "json" | "events" = "nothing"
  private chunks: Array<Buffer> = []
  private events: ServerSentEvents | undefined = undefined
  private isMalformed = false
  private serverRequests = 0
  private sessionId: string | undefined = undefined
  private retryAfter: string | undefined = undefined

  constructor(request: ExchangeRequest, options: ExchangeOptions, host: ExchangeHost, done: (reply: Reply) => void) {
    this.request = request
    this.options = options
    this.host = host
    this.done = done
    this.provider = host.provider
    this.consumer = request.consumer
    this.listening = request.listening === true
    this.bytesMax = this.listening ? options.messageBytesMax : options.responseBodyBytesMax
    this.timedMs = request.timeoutMs
    this.timer = setTimeout(onDeadline, request.timeoutMs, this)
  }

  /** Starts the exchange; called by the lane. */
  dispatch(): void {
    if (this.settled) return this.release()
    const { body, headers, method, path } = this.request
    const dispatcher = this.listening ? this.host.streams : this.host.dispatcher
    dispatcher.dispatch({ method, path, headers, body: body === "" ? null : body }, this)
  }

  /** No reply follows. The server sees its connection end, if it saw the request. */
  cancel(): void {
    if (this.settled) return
    this.settled = true
    this.letGo()
    clearTimeout(this.timer)
    this.controller?.abort(stopped)
  }

  expire(): void {
    if (this.settled) return this.controller?.abort(stopped)
    const leftMs = this.request.timeoutMs + (this.request.extraMs?.() ?? 0) - this.timedMs
    if (leftMs > 0) {
      const nextMs = Math.min(leftMs, EXTRA_STEP_MS)
      this.timedMs += nextMs
      this.timer = setTimeout(onDeadline, nextMs, this)
      return
    }
    this.settle(fault("timeout", "The provider did not respond in time", this.bytes))
    this.controller?.abort(stopped)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // If this throws, undici drops the request and keeps the socket; an abort would close it.
    if (this.settled) throw stopped
    this.controller = controller
    this.sent = true
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (status < 200) return
    this.status = status
    const encoding = headers["content-encoding"]
    if (encoding !== undefined && encoding !== "identity" && encoding !== "") {
      return this.stop(fault("malformed", "The provider's response has an unrequested encoding"))
    }
    if (Number(headers["content-length"] ?? 0) > this.bytesMax) return this.stop(this.tooLarge())
    this.retryAfter = headers["retry-after"]
    const type = headers["content-type"]
    if (status < 300) {
      const session = headers["mcp-session-id"]
      if (typeof session === "string") this.sessionId = session
      if (this.request.id === undefined && !this.listening) return
      if (type === undefined || isJson(type)) this.reading = "json"
      else if (isEventStream(type)) {
        this.reading = "events"
        this.events = new ServerSentEvents((event) => this.onEvent(event.event, event.data))
      } else this.stop(fault("malformed", "The provider's response is not MCP"))
    } else if (status < 400) this.stop(this.statusReply(undefined))
    else if (type !== undefined && isJson(type)) this.reading = "json"
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.bytes += chunk.length
    if (this.bytes - this.passedBytes > this.bytesMax) return this.stop(this.tooLarge())
    if (this.settled) return
    if (this.bytes - this.passedBytes > UNCOUNTED_BYTES && !this.host.answerBytes.take(this, chunk.length))
      return this.drop()
    if (this.reading === "json") this.chunks.push(chunk)
    else this.events?.push(chunk)
  }

  onResponseEnd(): void {
    this.release()
    if (this.settled) return clearTimeout(this.timer)
    this.settle(this.reading === "events" ? this.streamEnded() : this.replyOfBody())
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.release()
    if (this.settled) return clearTimeout(this.timer)
    // An error status counts, even if its body is incomplete.
    if (this.status >= 300) this.settle(this.statusReply(undefined))
    else if (this.reading === "events") this.settle(this.streamEnded())
    else this.settle(faultOf(error, this.status !== 0, this.bytes))
  }

  drop(): void {
    this.stop(fault("no_room", "The service has no room for a response of this size at the moment", this.bytes))
  }

  private onEvent(event: string, data: string): void {
    if (this.settled || data === "" || (event !== "" && event !== "message")) return
    const messages = messagesOf(data)
    if (messages === undefined) {
      this.isMalformed = true
      return
    }
    if (this.listening) {
      this.passedBytes = this.bytes
      this.host.answerBytes.give(this)
    }
    for (let nth = 0; nth < messages.length; nth++) {
      const message = messages[nth]!
      const { id, onMessage, onProgress } = this.request
      const answer = id === undefined ? undefined : answerTo(id, message)
      if (answer !== undefined) {
        this.settle(this.answered(answer, data, nth))
        // The stream should end now. A server that keeps it open loses the socket.
        this.timer = setTimeout(onDeadline, this.options.lingerMs, this)
        return
      }
      if (onMessage?.(message, rawMessage(data, nth) ?? data, this.events?.eventId) === true) continue
      const progress = onProgress === undefined ? undefined : progressOf(id!, message)
      if (progress !== undefined) onProgress!(progress)
      const asked = serverRequestOf(message)
      if (asked !== undefined && ++this.serverRequests <= SERVER_REQUESTS_MAX) this.request.onAsked(asked)
    }
  }

  private replyOfBody(): Reply {
    const { bytes, request, status } = this
    if (status < 300 && request.id === undefined && !this.listening) return { kind: "accepted", bytes }
    const text = this.reading === "json" && this.chunks.length > 0 ? this.text() : ""
    const messages = text === "" ? undefined : messagesOf(text)
    if (status >= 400) {
      const error = messages?.length === 1 ? errorOf(messages[0]!) : undefined
      return error !== undefined && status < 500 && status !== 429
        ? { kind: "rpc_error", error, text: rawMember(text, 0, "error"), status, bytes }
        : this.statusReply(error)
    }
    if (messages === undefined) return fault("malformed", "The provider's response is not valid JSON", bytes)
    for (let nth = 0; nth < messages.length; nth++) {
      const answer = request.id === undefined ? undefined : answerTo(request.id, messages[nth]!)
      if (answer !== undefined) return this.answered(answer, text, nth)
      request.onMessage?.(messages[nth]!, rawMessage(text, nth) ?? text, undefined)
    }
    return fault("malformed", "The provider's response belongs to another request", bytes)
  }

  /** The nth object of this text was the response. */
  private answered(answer: RpcResponse, text: string, nth: number): Reply {
    const { bytes, sessionId, status } = this
    return "result" in answer
      ? { kind: "result", result: answer.result, text: rawResult(text, nth), sessionId, bytes }
      : { kind: "rpc_error", error: answer.error, text: rawMember(text, nth, "error"), status, bytes }
  }

  private streamEnded(): Reply {
    const { bytes, events } = this
    // Nothing was awaited on it.
    if (this.request.id === undefined) return { kind: "accepted", bytes }
    if (events?.lastEventId !== undefined && isEventId(events.lastEventId)) {
      return { kind: "resumable", lastEventId: events.lastEventId, retryMs: events.retryMs, bytes }
    }
    return this.isMalformed
      ? fault("malformed", "The provider's response is not valid JSON", bytes)
      : fault("connection", "The provider's response was interrupted", bytes)
  }

  private statusReply(error: RpcError | undefined): Reply {
    const { bytes, retryAfter, status } = this
    return { kind: "status", status, error, retryAfter, bytes }
  }

  private tooLarge(): Reply {
    return fault("too_large", `The provider's response is larger than ${this.bytesMax} bytes`, this.bytes)
  }

  private text(): string {
    return this.chunks.length === 1 ? this.chunks[0]!.toString("utf8") : Buffer.concat(this.chunks).toString("utf8")
  }

  private settle(reply: Reply): void {
    this.settled = true
    clearTimeout(this.timer)
    const release =
      this.bytes > UNCOUNTED_BYTES && this.consumer !== "" ? this.host.answerBytes.settling(this) : undefined
    this.letGo()
    this.done(release === undefined ? reply : released(reply, release))
  }

  /** Releases what is not needed until undici drops the exchange. */
  private letGo(): void {
    this.host.answerBytes.give(this)
    this.chunks = []
    this.events = undefined
  }

  private stop(reply: Reply): void {
    if (!this.settled) this.settle(reply)
    this.controller?.abort(stopped)
  }

  private release(): void {
    if (this.released) return
    this.released = true
    this.host.released(this.listening)
  }
}

/** An event id that is a valid header value. */
export const isEventId = (text: string): boolean => /^[\x20-\x7e]{1,1024}$/u.test(text)

/** Only a result is kept in memory. */
const released = (reply: Reply, release: () => void): Reply => {
  if (reply.kind === "result") return { ...reply, release }
  release()
  return reply
}

/** Extra time may become shorter. */
const EXTRA_STEP_MS = 1_000

/** The most requests of a server on one stream that are answered. */
const SERVER_REQUESTS_MAX = 16

const stopped = new Error("The exchange is over")

const onDeadline = (exchange: HttpExchange) => exchange.expire()
