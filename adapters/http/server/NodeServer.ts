/**
 * The service on a socket, directly on node:http: a framework in between would slow down every call.
 */
import { Context, Duration, Effect, Fiber, Layer, Schema } from "effect"
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import { createServer as createSocketServer, Server as SocketServer, type Socket } from "node:net"
import type { Duplex } from "node:stream"
import { gzipSync } from "node:zlib"
import { Dispatcher } from "../pipeline/Dispatcher.ts"
import {
  type LastEvent,
  plainAddress,
  type TrustedProxies,
  type WebRequest,
  type WebResponse
} from "../pipeline/WebRequest.ts"
import { Connections, makeRejections } from "./Connections.ts"
import {
  endStream,
  isStreaming,
  makeResponseBatches,
  readBody,
  send,
  UnreadResponses,
  writeEvent
} from "./HttpMessages.ts"

const SHORT_CHARS_MAX = 1_024
/** JSON is compressed only from this length on: the OpenAPI document, for example. */
const SHORT_JSON_CHARS_MAX = 65_536
const KEPT_MAX = 64
const KEPT_BYTES_MAX = 8 * 1024 * 1024
/** Longer documents are not compressed; the service's own documents are shorter. */
const LONG_CHARS_MAX = 2 * 1024 * 1024

/**
 * Gzips pages, scripts and other long documents for clients that accept it. Responses of the API are not compressed: most
 * are short, and compressing a long one would delay all other requests. The compressed form of a repeated document is
 * cached.
 */
export interface Compression {
  of(answer: WebResponse, acceptEncoding: string | undefined): WebResponse
}

export const makeCompression = (): Compression => {
  const kept = new Map<string, Uint8Array>()
  let keptBytes = 0

  const compressed = (body: string): Uint8Array => {
    const known = kept.get(body)
    if (known !== undefined) return known
    const bytes = gzipSync(body)
    // A character of the key takes one or two bytes.
    const weight = (one: string): number => one.length * 2
    kept.set(body, bytes)
    keptBytes += weight(body)
    for (const oldest of kept.keys()) {
      if (kept.size <= KEPT_MAX && keptBytes <= KEPT_BYTES_MAX) break
      kept.delete(oldest)
      keptBytes -= weight(oldest)
    }
    return bytes
  }

  return {
    of: (answer, acceptEncoding) => {
      const { body, headers } = answer
      if (answer.status !== 200 || typeof body !== "string" || !isCompressible(headers, body.length)) return answer
      const vary = headers["vary"] === undefined ? "Accept-Encoding" : `${headers["vary"]}, Accept-Encoding`
      return takesGzip(acceptEncoding)
        ? { ...answer, headers: { ...headers, vary, "content-encoding": "gzip" }, body: compressed(body) }
        : { ...answer, headers: { ...headers, vary } }
    }
  }
}

const isCompressible = (headers: WebResponse["headers"], chars: number): boolean => {
  if (chars > LONG_CHARS_MAX) return false
  const contentType = headers["content-type"] ?? ""
  if (contentType.startsWith("text/")) return chars > SHORT_CHARS_MAX
  const isForAll = headers["cache-control"]?.startsWith("public") === true
  return isForAll && contentType.startsWith("application/json") && chars > SHORT_JSON_CHARS_MAX
}

/** RFC 9110, 12.5.3: a weight of 0 means not acceptable. */
export const takesGzip = (acceptEncoding: string | undefined): boolean => {
  if (acceptEncoding === undefined) return false
  const weights = new Map(
    acceptEncoding.split(",").map((one) => {
      const [coding = "", ...parameters] = one.split(";").map((part) => part.trim().toLowerCase())
      const weight = parameters.find((parameter) => parameter.startsWith("q="))
      return [coding, weight === undefined ? 1 : Number(weight.slice(2))] as const
    })
  )
  return (weights.get("gzip") ?? weights.get("x-gzip") ?? weights.get("*") ?? 0) > 0
}

// A server that stops first tells its clients and load balancers, then closes what is idle, and completes what is in
// flight. A connection that is closed while a client sends on it would fail that request.

/** A server whose responses already announce the end of their connections. */
export interface Stopping {
  readonly server: Server
  readonly connections: Connections
  readonly running: ReadonlySet<Fiber.Fiber<WebResponse>>
  readonly dispatcher: Dispatcher["Service"]
  readonly drain: Duration.Input
  readonly noticeMs: number
  readonly isReplaced: boolean
  readonly onClose: () => void
}

const NOTICE_CHECK = Duration.millis(20)
const IDLE_SWEEP = Duration.millis(50)
/** Calls that are canceled at the end of the drain are settled in this time. */
const SETTLE_WAIT_MAX = Duration.seconds(5)
/** Requests whose connections were closed end in this time. */
const CLOSING_WAIT_MAX = Duration.seconds(1)

const stopServer = (stopping: Stopping) => Effect.andThen(giveNotice(stopping), close(stopping))

/**
 * New connections are still served, or those that replace this process take them, and the node stays ready. Ends early when
 * none is open.
 */
const giveNotice = ({ connections, dispatcher, isReplaced, noticeMs, server }: Stopping) => {
  const noneOpen = Effect.repeat(
    Effect.delay(
      Effect.sync(() => connections.count === 0),
      NOTICE_CHECK
    ),
    { until: (isTrue) => isTrue }
  )
  return Effect.andThen(
    // A server of HTTP would close its idle connections as well, on which clients may be sending.
    isReplaced ? Effect.sync(() => SocketServer.prototype.close.call(server)) : dispatcher.beginDrain,
    Effect.suspend(() => (connections.count === 0 ? Effect.void : Effect.timeoutOption(noneOpen, noticeMs)))
  )
}

/**
 * New connections are rejected from now on, and idle ones are closed: after the notice, those whose clients have sent
 * nothing during it. Calls in flight may end, whether or not their callers have disconnected. Those in flight at the end
 * of the drain are canceled and settled.
 */
const close = ({ dispatcher: { cutOff, endStreams, idle }, drain, onClose, running, server }: Stopping) =>
  Effect.callback<void>((resume) => {
    onClose()
    server.close(() => resume(Effect.void))
    Effect.runSync(endStreams)
  }).pipe(
    Effect.race(closeIdleForever(server)),
    Effect.andThen(Effect.suspend(() => Fiber.awaitAll(running))),
    Effect.andThen(idle),
    Effect.timeoutOption(drain),
    // Comes before connections are closed, which would look like disconnecting callers.
    Effect.andThen(Effect.timeoutOption(cutOff, SETTLE_WAIT_MAX)),
    Effect.andThen(Effect.sync(() => server.closeAllConnections())),
    Effect.andThen(Effect.suspend(() => Effect.timeoutOption(Fiber.awaitAll(running), CLOSING_WAIT_MAX)))
  )

/** A keep-alive connection becomes idle when its call ends, so this is repeated until all are closed. */
const closeIdleForever = (server: Server): Effect.Effect<never> =>
  Effect.sync(() => server.closeIdleConnections()).pipe(Effect.delay(IDLE_SWEEP), Effect.forever)

/** The address of the server, and the limits that protect it from clients. */
export interface ServerSettings {
  readonly host: string
  readonly port: number
  /** The time that calls in flight have when the service stops. */
  readonly drain: Duration.Input
  /** A service that stops accepts connections for this long after it reports that it is not ready. */
  readonly noticeMs?: number
  /** A connection is closed after this time without a byte in either direction. */
  readonly silenceMs?: number
  /** The limit for all addresses together. */
  readonly connectionsMax?: number
  /** 0 for no limit per address. */
  readonly connectionsPerAddressMax?: number
  /** Connections of trusted proxies do not count toward an address. */
  readonly trustedProxies?: TrustedProxies
  /** The time that a request may take to arrive, its body included. */
  readonly requestMs?: number
  /** Whether another process that listens on the same port replaces this one. Read when the service stops. */
  readonly isReplaced?: () => boolean
}

/** The server did not start, because the operating system does not give it the address or the port. */
export class CannotListen extends Schema.TaggedError<CannotListen>()("CannotListen", {
  host: Schema.String,
  port: Schema.Int,
  code: Schema.String
}) {
  override get message() {
    const why =
      this.code === "EADDRINUSE"
        ? "something else is listening there already; stop it, or choose another PORT"
        : this.code === "EACCES"
          ? "this user may not listen there; choose a PORT above 1023"
          : this.code === "EADDRNOTAVAIL"
            ? "this machine has no such address; check HOST"
            : this.code
    return `Cannot listen on ${this.host}:${this.port}: ${why}.`
  }
}

/** The address of the service; with port 0 the system chose the port. */
export class ListeningAt extends Context.Service<ListeningAt, { readonly host: string; readonly port: number }>()(
  "agent-tool-billing/adapters/http/ListeningAt"
) {}

/** Each costs some tens of kilobytes. */
export const CONNECTIONS_MAX = 10_000
const CONNECTIONS_PER_ADDRESS_MAX = 1_000
/** Accepted beyond the limit, so that one of them can replace an idle one. */
const CONNECTIONS_SPARE = 256
const HEADER_BYTES_MAX = 32_768
const HEADERS_TIMEOUT_MS = 10_000
const REQUEST_TIMEOUT_MS = 60_000
/** The interval between checks for requests that take too long to arrive. */
const CHECKING_INTERVAL_MS = 5_000
const KEEP_ALIVE_TIMEOUT_MS = 65_000
/** It is longer than any request may take. */
const SILENCE_MS = 180_000
/** Pipelined requests of one connection. With more of them the connection is closed. */
const PIPELINED_MAX = 100

export const layer = (settings: ServerSettings) =>
  Layer.effect(
    ListeningAt,
    Effect.gen(function* () {
      const dispatcher = yield* Dispatcher
      const { dispatch } = dispatcher
      const context = yield* Effect.context<never>()
      const run = Effect.runForkWith(context)
      const reject = makeRejections(dispatcher.baseUrl, (answer) => void run(dispatcher.logRejected(answer)))
      const running = new Set<Fiber.Fiber<WebResponse>>()
      const max = settings.connectionsMax ?? CONNECTIONS_MAX
      const connections = new Connections({
        max,
        perAddressMax: settings.connectionsPerAddressMax ?? CONNECTIONS_PER_ADDRESS_MAX,
        trusted: settings.trustedProxies ?? []
      })
      /** Connections rejected already: the parser reports an error for every further chunk. */
      const malformed = new WeakSet<Duplex>()
      const compression = makeCompression()
      const stopping = { isBegun: false, isClosing: false }
      /** A response announces the end of its connection, unless the client has sent further requests on it already. */
      const isLast = (incoming: IncomingMessage, outgoing: ServerResponse): boolean =>
        stopping.isBegun && (stopping.isClosing || connections.of(incoming.socket)?.latest?.outgoing === outgoing)
      const unread = new UnreadResponses()
      /** An uncaught exception here would end the process, and with it all calls. */
      const sendOrDisconnect = (incoming: IncomingMessage, outgoing: ServerResponse, answer: WebResponse) => {
        try {
          send(
            isLast(incoming, outgoing),
            unread,
            incoming,
            outgoing,
            compression.of(answer, incoming.headers["accept-encoding"])
          )
        } catch (cause) {
          outgoing.destroy()
          run(Effect.logError("An answer could not be sent", cause))
        }
      }
      const inTurn = makeResponseBatches()
      const requestMs = settings.requestMs ?? REQUEST_TIMEOUT_MS
      const server = createServer(
        {
          maxHeaderSize: HEADER_BYTES_MAX,
          headersTimeout: Math.min(HEADERS_TIMEOUT_MS, requestMs),
          requestTimeout: requestMs,
          connectionsCheckingInterval: Math.min(CHECKING_INTERVAL_MS, requestMs),
          keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
          noDelay: true,
          // Rejected in `Connections.ts`, with a problem document.
          requireHostHeader: false
        },
        (incoming, outgoing) => {
          const rejected = reject.request(incoming)
          if (rejected !== undefined) return send(false, unread, incoming, outgoing, rejected)
          const connection = connections.of(incoming.socket)
          if (connection === undefined || connection.unanswered === PIPELINED_MAX) {
            return void incoming.socket.destroy()
          }
          connections.began(connection, { incoming, outgoing })
          let last: LastEvent | undefined
          const sendEvent: WebRequest["sendEvent"] = (headers, event, lastOfStream) => {
            last = lastOfStream
            writeEvent(outgoing, headers, event)
          }
          const fiber = run(dispatch(toWebRequest(incoming, sendEvent)))
          running.add(fiber)
          fiber.addObserver((exit) => {
            running.delete(fiber)
            if (exit._tag === "Failure") outgoing.destroy()
            else if (isStreaming(outgoing)) endStream(unread, outgoing, exit.value, last)
            else inTurn(() => sendOrDisconnect(incoming, outgoing, exit.value))
          })
          outgoing.on("close", () => {
            connections.answered(connection)
            if (!outgoing.writableFinished) fiber.interruptUnsafe()
          })
        }
      )
      server.maxConnections = max + CONNECTIONS_SPARE
      server.on("connection", (socket: Socket) => {
        const admission = connections.open(socket)
        if (admission === "admitted") return
        malformed.add(socket)
        reject.connection(socket, admission)
      })
      server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
        if (malformed.has(socket)) return
        malformed.add(socket)
        reject.malformed(socket, error, connections.of(socket)?.latest)
      })
      server.setTimeout(settings.silenceMs ?? SILENCE_MS)
      const stop = Effect.suspend(() => {
        stopping.isBegun = true
        return stopServer({
          server,
          connections,
          running,
          dispatcher,
          drain: settings.drain,
          noticeMs: settings.noticeMs ?? 0,
          isReplaced: settings.isReplaced?.() ?? false,
          onClose: () => (stopping.isClosing = true)
        })
      })
      yield* Effect.acquireRelease(listen(server, settings), () => stop)
      const address = server.address()
      return {
        host: settings.host,
        port: typeof address === "object" && address !== null ? address.port : settings.port
      }
    })
  )

const listen = (server: Server, { host, port }: ServerSettings) =>
  Effect.callback<void, CannotListen>((resume) => {
    server.once("error", (error: NodeJS.ErrnoException) =>
      resume(Effect.fail(new CannotListen({ host, port, code: error.code ?? error.message })))
    )
    server.listen({ host, port, backlog: 1_024 }, () => resume(Effect.void))
  })

const toWebRequest = (incoming: IncomingMessage, sendEvent: NonNullable<WebRequest["sendEvent"]>): WebRequest => {
  const url = incoming.url ?? "/"
  const mark = url.indexOf("?")
  return {
    method: incoming.method ?? "GET",
    path: mark === -1 ? url : url.slice(0, mark),
    query: mark === -1 ? "" : url.slice(mark + 1),
    headers: incoming.headers,
    remoteAddress: plainAddress(incoming.socket.remoteAddress),
    body: (bytesMax) => readBody(incoming, bytesMax),
    sendEvent
  }
}

/**
 * Port 0 asks the system for any free port. Links in responses contain the port, so it is chosen before the service is
 * built. If another process takes the port in between, listening fails with an error.
 */
export const portToListenOn = (host: string, port: number): Effect.Effect<number, CannotListen> =>
  port === 0 ? freePort(host) : Effect.succeed(port)

const freePort = (host: string): Effect.Effect<number, CannotListen> =>
  Effect.callback((resume) => {
    const server = createSocketServer()
    server.once("error", (error: NodeJS.ErrnoException) =>
      resume(Effect.fail(new CannotListen({ host, port: 0, code: error.code ?? error.message })))
    )
    server.listen({ host, port: 0 }, () => {
      const address = server.address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      server.close(() => resume(Effect.succeed(port)))
    })
  })
