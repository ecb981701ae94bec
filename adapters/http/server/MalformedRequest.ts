/**
 * The last words to a client whose bytes are no HTTP: no request came of them, so nothing of the pipeline has seen them.
 * In the form of every other problem all the same, and the connection ends with it.
 */
import { randomUUID } from "node:crypto"
import { type IncomingMessage, STATUS_CODES, type ServerResponse } from "node:http"
import type { Duplex } from "node:stream"
import { dress } from "../pipeline/Conventions.ts"
import { type Problem, toAnswer } from "../pipeline/Problems.ts"
import type { WebAnswer } from "../pipeline/WebRequest.ts"

/** The request that a connection brought last. */
export interface Exchange {
  readonly incoming: IncomingMessage
  readonly outgoing: ServerResponse
}

/**
 * Says what is wrong and closes. A whole request before the broken bytes is answered first: a refusal in its place would
 * be taken for its own.
 */
export const refuseMalformed = (
  socket: Duplex,
  error: NodeJS.ErrnoException,
  before: Exchange | undefined,
  baseUrl: string
): void => {
  const last = () => lastWords(socket, problemOf(error), baseUrl)
  if (!socket.writable || error.code === "ECONNRESET") return void socket.destroy()
  if (before === undefined || before.outgoing.writableFinished) return last()
  if (before.outgoing.writableEnded) return void socket.destroy()
  if (!before.incoming.complete) {
    // Answered already, while its body was still coming.
    if (before.outgoing.headersSent) return void socket.destroy()
    return last()
  }
  before.outgoing.once("finish", last)
}

/** For a connection that there is no room for: nothing of it is read. */
export const refuseConnection = (socket: Duplex, why: "address_full" | "server_full", baseUrl: string): void =>
  lastWords(
    socket,
    {
      ...(why === "address_full"
        ? {
            status: 429,
            code: "RATE_LIMITED",
            message:
              "Too many open connections from your address. Reuse connections, or close some. Retry after 1 second."
          }
        : {
            status: 503,
            code: "UNAVAILABLE",
            message: "The service has as many open connections as it can serve. Retry after 1 second."
          }),
      headers: { "retry-after": "1" },
      extra: { retry_after_seconds: 1 }
    },
    baseUrl
  )

/** What the parser lets pass and is refused all the same: a line without a version, and HTTP/1.1 without a Host. */
export const refusalOf = (
  { headers, httpVersion, httpVersionMajor }: IncomingMessage,
  baseUrl: string
): WebAnswer | undefined => {
  if (httpVersionMajor < 1)
    return answerOf(badRequest("The request names no version of HTTP. HTTP/1.1 is spoken here."), baseUrl)
  return headers.host === undefined && httpVersion === "1.1"
    ? answerOf(badRequest("The request names no Host, which HTTP/1.1 asks for."), baseUrl)
    : undefined
}

const lastWords = (socket: Duplex, problem: Problem, baseUrl: string): void => {
  if (!socket.writable) return void socket.destroy()
  const { body, headers, status } = answerOf(problem, baseUrl)
  const head = Object.entries({ ...headers, "content-length": Buffer.byteLength(body) })
  const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...head.map(([name, value]) => `${name}: ${value}`)]
  socket.end(`${lines.join("\r\n")}\r\n\r\n${body as string}`, () => socket.destroy())
}

/** Where it was meant to go is not known, or not to be believed. */
const answerOf = (problem: Problem, baseUrl: string): WebAnswer => {
  const requestId = randomUUID()
  return dress(toAnswer(problem, requestId, "/", baseUrl), requestId, { connection: "close" })
}

const badRequest = (message: string): Problem => ({ status: 400, code: "BAD_REQUEST", message })

/** By the names that Node and its parser give to what can be wrong. */
const problemOf = ({ code }: NodeJS.ErrnoException): Problem => {
  switch (code) {
    case "HPE_HEADER_OVERFLOW":
      return {
        status: 431,
        code: "HEADERS_TOO_LARGE",
        message:
          "The request line and the headers are larger than 32768 bytes together, which is the most there may be."
      }
    case "HPE_CHUNK_EXTENSIONS_OVERFLOW":
      return { status: 413, code: "PAYLOAD_TOO_LARGE", message: "The chunks of the body have extensions without end." }
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return { status: 408, code: "REQUEST_TIMEOUT", message: "The request took too long to come. Send it again." }
    default:
      return badRequest("What came is not HTTP/1.1 as the service reads it. The connection is closed.")
  }
}
