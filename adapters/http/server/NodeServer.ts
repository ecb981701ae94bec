/**
 * The service on a socket: node:http in, the dispatcher, node:http out. No framework between them: this is what every
 * call pays for.
 */
import { Context, Duration, Effect, Fiber, Layer, Schema } from "effect"
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { Duplex } from "node:stream"
import { plainAddress } from "../pipeline/ClientAddress.ts"
import { PayloadTooLarge } from "../pipeline/Failures.ts"
import { Dispatcher } from "../pipeline/Dispatcher.ts"
import type { WebAnswer, WebRequest } from "../pipeline/WebRequest.ts"
import { makeAnswerLane } from "./AnswerLane.ts"
import { makeCompression } from "./Compression.ts"
import { isStreaming, sayLast, sayOnTheWay } from "./EventStream.ts"
import { type Exchange, refusalOf, refuseMalformed } from "./MalformedRequest.ts"

export interface ServerSettings {
  readonly host: string
  readonly port: number
  /** How long calls that are under way may take to end when the service is stopped. */
  readonly drain: Duration.Input
  /** After so long without a byte in either direction a connection is given up. */
  readonly silenceMs?: number
  /** Those beyond are hung up on at once. */
  readonly connectionsMax?: number
}

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

interface Connection {
  latest: Exchange | undefined
  unanswered: number
}

/** Where the service listens; with port 0 the system chose the port. */
export class ListeningAt extends Context.Service<ListeningAt, { readonly host: string; readonly port: number }>()(
  "agent-tool-billing/adapters/http/ListeningAt"
) {}

/** Each costs some tens of kilobytes; more than this no one node serves well. */
export const CONNECTIONS_MAX = 10_000
const HEADER_BYTES_MAX = 32_768
const HEADERS_TIMEOUT_MS = 10_000
const REQUEST_TIMEOUT_MS = 60_000
const KEEP_ALIVE_TIMEOUT_MS = 65_000
/** Longer than any request may take. Whoever reads nothing of his answer for so long is gone, or means no good. */
const SILENCE_MS = 180_000
/** Requests of one connection that wait for their answers. Who sends more without reading any is hung up on. */
const UNANSWERED_MAX = 100
const IDLE_SWEEP = Duration.millis(50)
/** For the settlement of calls that are canceled when the drain is over. */
const SETTLE_WAIT_MAX = Duration.seconds(5)
/** For requests whose connections were closed. */
const CLOSING_WAIT_MAX = Duration.seconds(1)

export const layer = (settings: ServerSettings) =>
  Layer.effect(
    ListeningAt,
    Effect.gen(function* () {
      const dispatcher = yield* Dispatcher
      const { dispatch } = dispatcher
      const context = yield* Effect.context<never>()
      const run = Effect.runForkWith(context)
      const running = new Set<Fiber.Fiber<WebAnswer>>()
      const connections = new WeakMap<Duplex, Connection>()
      const connectionOf = (socket: Duplex): Connection => {
        const known = connections.get(socket)
        if (known !== undefined) return known
        const first: Connection = { latest: undefined, unanswered: 0 }
        connections.set(socket, first)
        return first
      }
      /** Whatever still comes on these is not read: the parser complains of every piece of it. */
      const malformed = new WeakSet<Duplex>()
      const compression = makeCompression()
      /** What is thrown here would end the process, and with it everybody's calls. */
      const sendOrHangUp = (incoming: IncomingMessage, outgoing: ServerResponse, answer: WebAnswer) => {
        try {
          send(server, incoming, outgoing, compression.of(answer, incoming.headers["accept-encoding"]))
        } catch (cause) {
          outgoing.destroy()
          run(Effect.logError("An answer could not be sent", cause))
        }
      }
      const inTurn = makeAnswerLane()
      const server = createServer(
        {
          maxHeaderSize: HEADER_BYTES_MAX,
          headersTimeout: HEADERS_TIMEOUT_MS,
          requestTimeout: REQUEST_TIMEOUT_MS,
          keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
          noDelay: true,
          // Refused here, in the form of other problems.
          requireHostHeader: false
        },
        (incoming, outgoing) => {
          const refused = refusalOf(incoming)
          if (refused !== undefined) return send(server, incoming, outgoing, refused)
          const connection = connectionOf(incoming.socket)
          if (connection.unanswered === UNANSWERED_MAX) return void incoming.socket.destroy()
          connection.latest = { incoming, outgoing }
          connection.unanswered++
          const fiber = run(dispatch(toWebRequest(incoming, outgoing)))
          running.add(fiber)
          fiber.addObserver((exit) => {
            running.delete(fiber)
            if (exit._tag === "Failure") outgoing.destroy()
            else if (isStreaming(outgoing)) sayLast(outgoing, exit.value)
            else inTurn(() => sendOrHangUp(incoming, outgoing, exit.value))
          })
          outgoing.on("close", () => {
            connection.unanswered--
            if (!outgoing.writableFinished) fiber.interruptUnsafe()
          })
        }
      )
      server.maxConnections = settings.connectionsMax ?? CONNECTIONS_MAX
      server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
        if (malformed.has(socket)) return
        malformed.add(socket)
        refuseMalformed(socket, error, connections.get(socket)?.latest)
      })
      server.setTimeout(settings.silenceMs ?? SILENCE_MS)
      yield* Effect.acquireRelease(listen(server, settings), () => close(server, running, dispatcher, settings.drain))
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

/**
 * New connections are refused at once. Calls in flight may end, whether their callers wait or have left; those that are
 * still in flight when the drain is over are canceled and settled.
 */
const close = (
  server: Server,
  running: ReadonlySet<Fiber.Fiber<WebAnswer>>,
  { cutOff, idle }: Dispatcher["Service"],
  drain: Duration.Input
) =>
  Effect.callback<void>((resume) => {
    server.close(() => resume(Effect.void))
  }).pipe(
    Effect.race(closeIdleForever(server)),
    Effect.andThen(Effect.suspend(() => Fiber.awaitAll(running))),
    Effect.andThen(idle),
    Effect.timeoutOption(drain),
    // Before connections are closed: a caller must not seem to have left.
    Effect.andThen(Effect.timeoutOption(cutOff, SETTLE_WAIT_MAX)),
    Effect.andThen(Effect.sync(() => server.closeAllConnections())),
    Effect.andThen(Effect.suspend(() => Effect.timeoutOption(Fiber.awaitAll(running), CLOSING_WAIT_MAX)))
  )

/** A connection that was kept alive becomes idle when its call ends: asked for again until all are gone. */
const closeIdleForever = (server: Server): Effect.Effect<never> =>
  Effect.sync(() => server.closeIdleConnections()).pipe(Effect.delay(IDLE_SWEEP), Effect.forever)

const toWebRequest = (incoming: IncomingMessage, outgoing: ServerResponse): WebRequest => {
  const url = incoming.url ?? "/"
  const mark = url.indexOf("?")
  return {
    method: incoming.method ?? "GET",
    path: mark === -1 ? url : url.slice(0, mark),
    query: mark === -1 ? "" : url.slice(mark + 1),
    headers: incoming.headers,
    remoteAddress: plainAddress(incoming.socket.remoteAddress),
    body: (bytesMax) => readBody(incoming, bytesMax),
    tell: (headers, event) => sayOnTheWay(outgoing, headers, event)
  }
}

const readBody = (incoming: IncomingMessage, bytesMax: number): Effect.Effect<Uint8Array, PayloadTooLarge> =>
  Effect.callback((resume) => {
    if (Number(incoming.headers["content-length"] ?? 0) > bytesMax) {
      return resume(Effect.fail(new PayloadTooLarge({ bytesMax })))
    }
    const chunks: Array<Buffer> = []
    let byteCount = 0
    const onData = (chunk: Buffer) => {
      byteCount += chunk.length
      if (byteCount <= bytesMax) return void chunks.push(chunk)
      stop()
      incoming.pause()
      resume(Effect.fail(new PayloadTooLarge({ bytesMax })))
    }
    // Nothing comes after the end: taking the listeners off again would only cost.
    const onEnd = () => {
      resume(Effect.succeed(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)))
    }
    const onGone = () => {
      stop()
      resume(Effect.interrupt)
    }
    const stop = () => {
      incoming.off("data", onData).off("end", onEnd).off("error", onGone).off("aborted", onGone)
    }
    incoming.on("data", onData).on("end", onEnd).on("error", onGone).on("aborted", onGone)
    return Effect.sync(stop)
  })

const send = (server: Server, incoming: IncomingMessage, outgoing: ServerResponse, answer: WebAnswer): void => {
  if (outgoing.destroyed || outgoing.headersSent) return
  const length = typeof answer.body === "string" ? Buffer.byteLength(answer.body) : answer.body.length
  // A body that was never read would be taken for the next request on this connection.
  const unread = !incoming.complete && hasBody(incoming)
  outgoing.writeHead(answer.status, {
    ...answer.headers,
    ...(answer.status === 204 ? {} : { "content-length": length }),
    // A client that is told so brings its next request elsewhere; one that is kept busy would never become idle.
    ...(unread || !server.listening ? { connection: "close" } : {})
  })
  if (incoming.method === "HEAD" || answer.status === 204) outgoing.end()
  // As many bytes as characters are ASCII, which costs less to write.
  else if (typeof answer.body === "string") outgoing.end(answer.body, length === answer.body.length ? "latin1" : "utf8")
  else outgoing.end(answer.body)
}

const hasBody = (incoming: IncomingMessage): boolean =>
  incoming.headers["transfer-encoding"] !== undefined || Number(incoming.headers["content-length"] ?? 0) > 0
