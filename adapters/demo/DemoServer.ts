/**
 * The MCP server of the demo provider, in all versions of the protocol and without sessions. It has no address and listens
 * nowhere: a connection is a pair of streams within the process, and only the connector of this provider's endpoint opens one.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { type Duplex, duplexPair } from "node:stream"
import {
  HEADER_MISMATCH,
  INVALID_PARAMS,
  INVALID_REQUEST,
  SESSION_VERSIONS,
  METHOD_NOT_FOUND,
  MODERN_VERSION,
  PARSE_ERROR,
  UNSUPPORTED_VERSION
} from "../../domain/upstream/Protocol.ts"
import { type DemoTool, demoTools, type SlowResult } from "./DemoTools.ts"

type JsonObject = Readonly<Record<string, unknown>>

interface Asked {
  readonly id: string | number | undefined
  readonly method: string
  readonly params: JsonObject
  readonly isModern: boolean
}

const BODY_CHARS_MAX = 4_194_304
const LIST_TTL_MS = 300_000
const SERVER_INFO = { name: "agent-tool-billing-demo", version: "1.0.0" }
const INSTRUCTIONS = "Tools for trying out the market. Their prices are test credit."
const CAPABILITIES = { tools: {} }

/** Opens a connection to a new server. */
export const makeDemoServer = (tools: ReadonlyArray<DemoTool> = demoTools): (() => Duplex) => {
  const byName = new Map(tools.map((tool) => [tool.definition.name, tool]))
  const server = createServer((request, response) => {
    if (request.method !== "POST") return void response.writeHead(405, { allow: "POST" }).end()
    readBody(request, (body) => answer(byName, request, response, body))
  })
  return () => {
    const [client, own] = duplexPair()
    server.emit("connection", own)
    return client
  }
}

const readBody = (request: IncomingMessage, done: (body: string | undefined) => void): void => {
  let text = ""
  request.setEncoding("utf8")
  request.on("data", (chunk: string) => {
    if (text.length <= BODY_CHARS_MAX) text += chunk
  })
  request.on("end", () => done(text.length > BODY_CHARS_MAX ? undefined : text))
}

const answer = (
  tools: ReadonlyMap<string, DemoTool>,
  request: IncomingMessage,
  response: ServerResponse,
  body: string | undefined
): void => {
  const asked = body === undefined ? undefined : askedIn(body)
  if (asked === undefined) return fail(response, undefined, 400, PARSE_ERROR, "The body must be a JSON-RPC message.")
  const { id, method, params } = asked
  if (method === "") return fail(response, id, 400, INVALID_REQUEST, "`method` is required.")
  if (id === undefined) return void response.writeHead(202).end()
  if (asked.isModern) {
    const version = versionIn(params)
    if (version !== MODERN_VERSION) {
      const data = { supported: [MODERN_VERSION], requested: version }
      return fail(response, id, 400, UNSUPPORTED_VERSION, "Unsupported protocol version", data)
    }
    const mismatch = mismatchOf(request, asked)
    if (mismatch !== undefined) return fail(response, id, 400, HEADER_MISMATCH, mismatch)
  }
  switch (method) {
    case "server/discover":
      return succeed(response, asked, {
        supportedVersions: [MODERN_VERSION],
        capabilities: CAPABILITIES,
        instructions: INSTRUCTIONS,
        _meta: { "io.modelcontextprotocol/serverInfo": SERVER_INFO },
        ...CACHED
      })
    case "initialize": {
      const requested = SESSION_VERSIONS.find((version) => version === params["protocolVersion"])
      return succeed(response, asked, {
        protocolVersion: requested ?? SESSION_VERSIONS[0],
        capabilities: CAPABILITIES,
        serverInfo: SERVER_INFO,
        instructions: INSTRUCTIONS
      })
    }
    case "ping":
      return succeed(response, asked, {})
    case "tools/list":
      return succeed(response, asked, {
        tools: [...tools.values()].map(({ definition }) => definition),
        ...(asked.isModern ? CACHED : {})
      })
    case "tools/call": {
      const tool = tools.get(String(params["name"]))
      if (tool === undefined) {
        return fail(response, id, 200, INVALID_PARAMS, `Unknown tool: ${String(params["name"])}`)
      }
      const outcome = tool.call(objectIn(params["arguments"]))
      return "steps" in outcome ? stream(response, asked, outcome) : succeed(response, asked, outcome.result)
    }
    default:
      return fail(response, id, asked.isModern ? 404 : 200, METHOD_NOT_FOUND, `Method not found: ${method}`)
  }
}

const CACHED = { ttlMs: LIST_TTL_MS, cacheScope: "public" }
const VERSION_META = "io.modelcontextprotocol/protocolVersion"

const versionIn = (params: JsonObject): unknown => objectIn(params["_meta"])[VERSION_META]

const askedIn = (body: string): Asked | undefined => {
  try {
    const message = objectIn(JSON.parse(body))
    const { id, method } = message
    const params = objectIn(message["params"])
    return {
      id: typeof id === "string" || typeof id === "number" ? id : undefined,
      method: typeof method === "string" ? method : "",
      params,
      isModern: versionIn(params) !== undefined
    }
  } catch {
    return undefined
  }
}

const mismatchOf = ({ headers }: IncomingMessage, { method, params }: Asked): string | undefined => {
  if (headers["mcp-protocol-version"] !== MODERN_VERSION) return "MCP-Protocol-Version does not match the body"
  if (headers["mcp-method"] !== method) return "Mcp-Method does not match the body"
  return method === "tools/call" && headers["mcp-name"] !== params["name"] && params["name"] !== undefined
    ? "Mcp-Name does not match the body"
    : undefined
}

/** Progress is sent only where the request asks for it. A closed connection ends the work. */
const stream = (response: ServerResponse, asked: Asked, { intervalMs, result, steps }: SlowResult): void => {
  const progressToken = objectIn(asked.params["_meta"])["progressToken"]
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" })
  let step = 0
  const timer = setInterval(() => {
    step++
    if (progressToken !== undefined) {
      const params = { progressToken, progress: step, total: steps, message: `${steps - step} left` }
      send(response, { method: "notifications/progress", params })
    }
    if (step < steps) return
    clearInterval(timer)
    send(response, { id: asked.id, result: resultOf(asked, result) })
    response.end()
  }, intervalMs)
  response.on("close", () => clearInterval(timer))
}

const send = (response: ServerResponse, message: JsonObject): void => {
  response.write(`event: message\ndata: ${JSON.stringify({ jsonrpc: "2.0", ...message })}\n\n`)
}

const resultOf = ({ isModern }: Asked, result: JsonObject): JsonObject =>
  isModern ? { resultType: "complete", ...result } : result

const succeed = (response: ServerResponse, asked: Asked, result: JsonObject): void =>
  reply(response, 200, { id: asked.id, result: resultOf(asked, result) })

const fail = (
  response: ServerResponse,
  id: Asked["id"],
  status: number,
  code: number,
  message: string,
  data?: JsonObject
): void =>
  reply(response, status, {
    ...(id === undefined ? {} : { id }),
    error: { code, message, ...(data === undefined ? {} : { data }) }
  })

const reply = (response: ServerResponse, status: number, message: JsonObject): void => {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify({ jsonrpc: "2.0", ...message }))
}

const objectIn = (value: unknown): JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : {}
