/**
 * An MCP server on loopback whose response to `tools/call` is written by the test: every fault of a provider's
 * server. The handshake of its era is answered correctly. Requests are recorded.
 */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http"
import { type AddressInfo, createServer as createTcpServer, type Socket } from "node:net"
import { Effect } from "effect"

/** A request as it arrived, with its JSON-RPC parts where it has them. */
export interface Seen {
  readonly http: string
  readonly headers: IncomingHttpHeaders
  readonly text: string
  readonly id: number | undefined
  readonly method: string | undefined
  readonly params: Readonly<Record<string, unknown>>
  /** The socket of the request, counted from 1. */
  readonly socket: number
}

/** Writes the response to a request, in any way that a server could. */
export type Answer = (seen: Seen, response: ServerResponse, n: number) => void

/** How a scripted server behaves. */
export interface Script {
  readonly era: "modern" | "stateful" | "stateless"
  /** Answers the n-th `tools/call`, from 1. */
  readonly onCall: Answer
  /** Answers anything else; false leaves it to the handshake. */
  readonly onOther?: (seen: Seen, response: ServerResponse) => boolean
  readonly host?: string
}

export interface ScriptedServer {
  readonly url: string
  readonly port: number
  readonly seen: ReadonlyArray<Seen>
  /** Sockets that were opened to it, with or without a request. */
  connections(): number
  /** The requests of one JSON-RPC method, in order. */
  of(method: string): ReadonlyArray<Seen>
}

export const scriptedServer = (script: Script) =>
  Effect.acquireRelease(
    Effect.callback<ScriptedServer & { readonly stop: () => void }>((resume) => {
      const seen: Array<Seen> = []
      const sockets = new Map<Socket, number>()
      let calls = 0
      let sessions = 0
      const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) =>
        readText(request, (text) => {
          const one = seenOf(request, text, sockets.get(request.socket) ?? 0)
          seen.push(one)
          if (one.method === "tools/call") return script.onCall(one, response, ++calls)
          if (script.onOther?.(one, response) === true) return
          handshake(script.era, one, response, () => `session-${++sessions}`)
        })
      )
      server.on("connection", (socket: Socket) => sockets.set(socket, sockets.size + 1))
      server.listen(0, script.host ?? "127.0.0.1", () => {
        const { port } = server.address() as AddressInfo
        resume(
          Effect.succeed({
            url: `http://${script.host === "::1" ? "[::1]" : "127.0.0.1"}:${port}/mcp`,
            port,
            seen,
            connections: () => sockets.size,
            of: (method) => seen.filter((one) => one.method === method),
            stop: () => {
              server.close()
              server.closeAllConnections()
            }
          })
        )
      })
    }),
    ({ stop }) => Effect.sync(stop)
  )

/** A server below HTTP: writes the test's bytes, once a request has begun to arrive. */
export const rawServer = (onData: (socket: Socket, text: string) => void) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly url: string; readonly stop: () => void }>((resume) => {
      const sockets = new Set<Socket>()
      const server = createTcpServer((socket) => {
        sockets.add(socket)
        socket.on("error", () => {})
        socket.on("data", (data) => onData(socket, data.toString()))
      })
      server.listen(0, "127.0.0.1", () =>
        resume(
          Effect.succeed({
            url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
            stop: () => {
              server.close()
              for (const socket of sockets) socket.destroy()
            }
          })
        )
      )
    }),
    ({ stop }) => Effect.sync(stop)
  )

/** Sends a value as JSON, and ends the response. */
export const json = (response: ServerResponse, body: unknown, status = 200, headers: Record<string, string> = {}) => {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body))
}

/** The JSON-RPC response to a request. */
export const result = (seen: Seen, value: unknown) => ({ jsonrpc: "2.0", id: seen.id, result: value })

/** The result of a tool that returns one text. */
export const text = (value: string) => ({ content: [{ type: "text", text: value }] })

/** A JSON-RPC error in response to a request. */
export const rpcError = (seen: Seen, code: number, message: string, data?: unknown) => ({
  jsonrpc: "2.0",
  id: seen.id ?? null,
  error: { code, message, ...(data === undefined ? {} : { data }) }
})

/** Starts an event stream, to which the test writes events. */
export const stream = (response: ServerResponse): ServerResponse =>
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" })

/** One event of a stream, with a JSON-RPC message. */
export const event = (message: unknown): string => `event: message\ndata: ${JSON.stringify(message)}\n\n`

const readText = (request: IncomingMessage, done: (text: string) => void) => {
  let all = ""
  request.setEncoding("utf8")
  request.on("data", (chunk: string) => {
    all += chunk
  })
  request.on("end", () => done(all))
}

const seenOf = (request: IncomingMessage, body: string, socket: number): Seen => {
  const parsed = (body === "" ? {} : JSON.parse(body)) as Partial<Seen>
  return {
    http: request.method ?? "",
    headers: request.headers,
    text: body,
    id: parsed.id,
    method: parsed.method,
    params: parsed.params ?? {},
    socket
  }
}

const handshake = (era: Script["era"], seen: Seen, response: ServerResponse, newSession: () => string) => {
  if (era === "modern") {
    if (seen.method === "server/discover") {
      return json(
        response,
        result(seen, { resultType: "complete", supportedVersions: ["2026-07-28"], capabilities: {} })
      )
    }
    if (seen.method === "tools/list") return json(response, result(seen, { resultType: "complete", tools: [] }))
    return json(response, rpcError(seen, -32601, "Method not found"), 404)
  }
  if (seen.method === "initialize") {
    const session = era === "stateful" ? { "mcp-session-id": newSession() } : undefined
    const answer = { protocolVersion: "2025-11-25", capabilities: {}, serverInfo: { name: "scripted", version: "1" } }
    return json(response, result(seen, answer), 200, session)
  }
  if (seen.http === "DELETE" || seen.id === undefined) return response.writeHead(202).end()
  return json(response, rpcError(seen, -32000, "Bad Request: Server not initialized"), 400)
}
