/**
 * One provider's MCP endpoint on this node: its sockets, its circuit, and its protocol version.
 */
import { Effect } from "effect"
import { Pool } from "undici"
import { type JsonMember, membersOf } from "../../../domain/shared/JsonText.ts"
import { builtInConnector, guardedConnector, type GuardOptions } from "../egress/GuardedEgress.ts"
import type { Dialect, Endpoint, Message, SessionDialect, ToolHeaders } from "./Dialect.ts"
import { type ExchangeHost, type ExchangeRequest, fault, HttpExchange, type Reply } from "./HttpExchange.ts"
import type { McpUpstreamOptions } from "./McpUpstreamOptions.ts"
import { modernMeta } from "./ModernDialect.ts"
import { appendSignedHeaders, type Signer, WITHOUT_SUBJECT } from "./ProviderSignature.ts"
import type { ResponseBytes } from "./ResponseBytes.ts"

type CircuitOptions = Pick<McpUpstreamOptions, "circuitFailures" | "circuitOpenMs" | "circuitOpenMsMax">

/**
 * Stops calls to an endpoint that keeps failing. Plain state without a fiber: it costs nanoseconds on the hot path, where
 * effect/persistence's breaker costs microseconds.
 */
export class CircuitBreaker {
  private readonly options: CircuitOptions
  private state: "closed" | "open" | "probing" = "closed"
  private failuresInARow = 0
  private openings = 0
  private openUntilMs = 0

  constructor(options: CircuitOptions) {
    this.options = options
  }

  /** Milliseconds until a call may pass; 0 lets this one pass. After an opening, one call at a time is the probe. */
  waitMs(nowMs: number): number {
    if (this.state === "closed") return 0
    if (nowMs < this.openUntilMs) return this.openUntilMs - nowMs
    // A probe without a result, because its caller left, blocks the circuit for at most one opening.
    this.state = "probing"
    this.openUntilMs = nowMs + this.options.circuitOpenMs
    return 0
  }

  /** The `waitMs` of a request that is not a probe. */
  leftMs(nowMs: number): number {
    return this.state === "closed" ? 0 : Math.max(0, this.openUntilMs - nowMs)
  }

  succeeded(): void {
    this.state = "closed"
    this.failuresInARow = 0
    this.openings = 0
  }

  failed(nowMs: number): void {
    // Calls that were in flight when the circuit opened do not count.
    if (this.state === "open") return
    this.failuresInARow++
    if (this.state === "closed" && this.failuresInARow < this.options.circuitFailures) return
    this.state = "open"
    this.openUntilMs = nowMs + Math.min(this.options.circuitOpenMs * 2 ** this.openings, this.options.circuitOpenMsMax)
    this.openings++
  }
}

/** Shared by the endpoints of one service. */
export interface EndpointShared {
  readonly options: McpUpstreamOptions
  readonly guard: GuardOptions
  readonly begin: (exchange: HttpExchange) => void
  readonly epochMs: () => number
  readonly nowMs: () => number
  readonly sessionDialect: SessionDialect
  readonly answerBytes: ResponseBytes
}

export interface Greeting {
  readonly dialect: Dialect
  readonly version: string
  /** Undefined if it is too large. */
  readonly text: string | undefined
  readonly atMs: number
}

export class ProviderEndpoint implements Endpoint, ExchangeHost {
  readonly options: McpUpstreamOptions
  readonly provider: string
  readonly answerBytes: ResponseBytes
  readonly dispatcher: Pool
  readonly circuit: CircuitBreaker
  readonly nowMs: () => number
  readonly sessionDialect: SessionDialect
  readonly meta: string
  /** The same, parsed once. */
  readonly metaMembers: ReadonlyArray<JsonMember>
  /** Determined once, and again if it proves wrong. */
  dialect: Dialect | undefined = undefined
  toolHeaders: ToolHeaders = new Map()
  toolHeadersUntilMs = 0
  /** The result of the last `server/discover` or `initialize`, verbatim. */
  greeting: Greeting | undefined = undefined
  /** The time at which the server last said that its tools changed. */
  toolsChangedMs = Number.NEGATIVE_INFINITY
  /** Requests that hold a socket or wait for one. */
  inFlight = 0
  /** Requests with a caller that waits for the reply. */
  awaited = 0
  lastUsedMs = 0

  private readonly shared: EndpointShared
  private readonly path: string
  private readonly origin: string
  private readonly userAgent: string
  private readonly sign: Signer
  private lastId = 0
  private streamPool: Pool | undefined = undefined

  constructor(url: URL, provider: string, sign: Signer, shared: EndpointShared) {
    this.provider = provider
    this.answerBytes = shared.answerBytes
    this.shared = shared
    this.options = shared.options
    this.nowMs = shared.nowMs
    this.sessionDialect = shared.sessionDialect
    this.sign = sign
    this.origin = url.origin
    this.path = url.pathname + url.search
    this.userAgent = `${shared.options.clientName}/${shared.options.clientVersion}`
    this.circuit = new CircuitBreaker(shared.options)
    this.meta = modernMeta(shared.options)
    this.metaMembers = membersOf(this.meta)
    this.dispatcher = this.makePool(shared.options.socketsMax)
  }

  get streams(): Pool {
    this.streamPool ??= this.makePool(this.options.listenersPerEndpointMax)
    return this.streamPool
  }

  nextId(): number {
    return ++this.lastId
  }

  leftMs(untilMs: number): number {
    return Math.max(1, Math.ceil(untilMs - this.nowMs()))
  }

  /**
   * Sends a message and waits for its reply. If interrupted, the exchange ends, and the server is notified if the
   * protocol requires it.
   */
  ask(message: Message): Effect.Effect<Reply> {
    return Effect.callback((resume) => {
      const exchange = this.begin(message, (reply) => {
        this.awaited--
        if (reply.kind === "timeout" && exchange?.sent === true)
          message.link?.dialect.cancel(this, message, "The response did not arrive in time")
        resume(Effect.succeed(reply))
      })
      if (exchange === undefined) return resume(Effect.succeed(overloaded))
      this.awaited++
      return Effect.sync(() => {
        this.awaited--
        exchange.cancel()
        if (exchange.sent) message.link?.dialect.cancel(this, message, "The caller disconnected")
      })
    })
  }

  /** Sends a message without waiting for its reply. */
  tell(message: Message): void {
    this.begin(message, ignore)
  }

  /** Sends a message and waits for its response, on further streams too. `count` gets the bytes of each reply. */
  askAndResume(message: Message, untilMs: number, count: (bytes: number) => void = ignore): Effect.Effect<Reply> {
    return Effect.flatMap(this.ask(message), (reply) => {
      count(reply.bytes)
      const { link } = message
      return reply.kind === "resumable" && link !== undefined
        ? link.dialect.resume(this, message, reply, untilMs, count)
        : Effect.succeed(reply)
    })
  }

  /** The server said that its tools changed. */
  toolsChanged(): void {
    this.toolsChangedMs = this.nowMs()
  }

  /** Closes every socket. */
  readonly destroy: Effect.Effect<void> = Effect.promise(() =>
    Promise.all([this.dispatcher.destroy(), this.streamPool?.destroy()])
  )

  released(listening: boolean): void {
    if (!listening) this.inFlight--
  }

  private begin(message: Message, done: (reply: Reply) => void): HttpExchange | undefined {
    if (message.listening !== true) {
      if (this.inFlight >= this.options.inFlightMax) return undefined
      this.inFlight++
    }
    const { body, extraMs, headers, id, link, listening, onMessage, onProgress, timeoutMs } = message
    headers.push("accept-encoding", "identity", "user-agent", this.userAgent)
    appendSignedHeaders(headers, this.sign, message.subject ?? WITHOUT_SUBJECT, body, this.shared.epochMs())
    const request: ExchangeRequest = {
      method: message.http ?? "POST",
      path: this.path,
      headers,
      body,
      id,
      timeoutMs,
      extraMs,
      consumer: message.subject?.consumerId ?? "",
      onProgress,
      onMessage,
      onAsked: (asked) => link?.dialect.answer(this, link, asked),
      listening
    }
    const exchange = new HttpExchange(request, this.options, this, done)
    this.shared.begin(exchange)
    return exchange
  }

  private makePool(connections: number): Pool {
    const { builtIn } = this.options
    return new Pool(this.origin, {
      connections,
      connect: builtIn?.providerId === this.provider ? builtInConnector(builtIn) : guardedConnector(this.shared.guard),
      allowH2: false,
      maxHeaderSize: this.options.responseHeaderBytesMax,
      // The exchange has its own deadline.
      headersTimeout: 0,
      bodyTimeout: 0
    })
  }
}

const overloaded = fault("overloaded", "The provider has too many calls in flight")

const ignore = () => {}
