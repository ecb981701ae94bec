/**
 * Problems that the server itself sends: to bytes that are not an HTTP request, and to connections over the limit. They have
 * the form and the log lines of all other problems; the connection is closed after them.
 */
import { randomUUID } from "node:crypto"
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http"
import type { Duplex } from "node:stream"
import { type Problem, toAnswer } from "../pipeline/Problems.ts"
import { addHeaders, type WebResponse } from "../pipeline/WebRequest.ts"

/** The last request on a connection. */
export interface Exchange {
  readonly incoming: IncomingMessage
  readonly outgoing: ServerResponse
}

/** `log` is called for every response. */
export const makeRejections = (baseUrl: string, log: (answer: WebResponse) => void) => {
  const answerOf = (problem: Problem): WebResponse => {
    const requestId = randomUUID()
    // The path is unknown or untrusted.
    const answer = addHeaders(toAnswer(problem, requestId, "/", baseUrl), requestId, { connection: "close" })
    log(answer)
    return answer
  }

  const rejectAndClose = (socket: Duplex, problem: Problem): void => {
    if (!socket.writable) return void socket.destroy()
    const { body, headers, status } = answerOf(problem)
    const head = Object.entries({ ...headers, "content-length": Buffer.byteLength(body) })
    const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...head.map(([name, value]) => `${name}: ${value}`)]
    socket.end(`${lines.join("\r\n")}\r\n\r\n${body as string}`, () => socket.destroy())
  }

  /**
   * A complete request before the malformed bytes gets its response first: its client would take the problem for that
   * response.
   */
  const malformed = (socket: Duplex, error: NodeJS.ErrnoException, before: Exchange | undefined): void => {
    const reject = () => rejectAndClose(socket, problemOf(error))
    if (!socket.writable || error.code === "ECONNRESET") return void socket.destroy()
    if (before === undefined || before.outgoing.writableFinished) return reject()
    if (before.outgoing.writableEnded) return void socket.destroy()
    if (!before.incoming.complete) {
      // The response was sent while the body was still arriving.
      if (before.outgoing.headersSent) return void socket.destroy()
      return reject()
    }
    before.outgoing.once("finish", reject)
  }

  /** Nothing is read from the connection. */
  const connection = (socket: Duplex, why: "address_full" | "server_full"): void =>
    rejectAndClose(socket, { ...FULL[why], headers: { "retry-after": "1" }, extra: { retry_after_seconds: 1 } })

  /** Rejects requests that Node's parser accepts: without an HTTP version, and HTTP/1.1 without a Host. */
  const request = ({ headers, httpVersion, httpVersionMajor }: IncomingMessage): WebResponse | undefined => {
    if (httpVersionMajor < 1) return answerOf(badRequest("The request names no HTTP version. Send HTTP/1.1."))
    return headers.host === undefined && httpVersion === "1.1"
      ? answerOf(badRequest("The `Host` header is required in HTTP/1.1."))
      : undefined
  }

  return { malformed, connection, request }
}

const FULL = {
  address_full: {
    status: 429,
    code: "RATE_LIMITED",
    message: "Too many open connections from your address. Reuse connections, or close some. Retry after 1 second."
  },
  server_full: {
    status: 503,
    code: "UNAVAILABLE",
    message: "The service has as many open connections as it can serve. Retry after 1 second."
  }
} as const

const badRequest = (message: string): Problem => ({ status: 400, code: "BAD_REQUEST", message })

/** By the codes of Node and its parser. */
const problemOf = ({ code }: NodeJS.ErrnoException): Problem => {
  switch (code) {
    case "HPE_HEADER_OVERFLOW":
      return {
        status: 431,
        code: "HEADERS_TOO_LARGE",
        message: "The request line and the headers are larger than 32768 bytes together, which is the limit."
      }
    case "HPE_CHUNK_EXTENSIONS_OVERFLOW":
      return { status: 413, code: "PAYLOAD_TOO_LARGE", message: "The chunk extensions of the body are too large." }
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return { status: 408, code: "REQUEST_TIMEOUT", message: "The request took too long to arrive. Send it again." }
    default:
      return badRequest("The bytes received are not a valid HTTP/1.1 request. The connection is closed.")
  }
}
