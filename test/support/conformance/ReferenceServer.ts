/**
 * An MCP server on loopback that passes the server scenarios of the conformance suite, in both eras at one endpoint: the
 * official 2.x SDK, with sessions for legacy clients and resumable streams.
 */
import { randomUUID } from "node:crypto"
import {
  classifyInboundRequest,
  createMcpHandler,
  fromJsonSchema,
  type EventStore,
  hostHeaderValidationResponse,
  isInitializeRequest,
  type JSONRPCMessage,
  localhostAllowedHostnames,
  McpServer,
  WebStandardStreamableHTTPServerTransport
} from "@modelcontextprotocol/server"
import { Effect } from "effect"
import { loopback, webListener } from "../servers/Loopback.ts"
import { codec, registerInput } from "./ReferenceInput.ts"
import { registerPrompts, registerResources } from "./ReferenceResources.ts"
import { referenceTasks, TASK_TOOLS } from "./ReferenceTasks.ts"
import { NO_ARGUMENTS, registerPlainTools, text } from "./ReferenceTools.ts"

const RECONNECT_AFTER_MS = 500

const eventStore = (): EventStore => {
  const events: Array<{ readonly id: string; readonly streamId: string; readonly message: JSONRPCMessage }> = []
  return {
    storeEvent: async (streamId, message) => {
      const id = `${streamId}::${String(events.length).padStart(8, "0")}`
      events.push({ id, streamId, message })
      return id
    },
    replayEventsAfter: async (lastEventId, { send }) => {
      const streamId = lastEventId.split("::")[0]!
      for (const { id, message, streamId: of } of events) {
        if (of === streamId && id > lastEventId && Object.keys(message).length > 0) await send(id, message)
      }
      return streamId
    }
  }
}

const reference = () => {
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>()
  const tasks = referenceTasks()

  const aServer = (): McpServer => {
    const listChanged = true
    const server = new McpServer(
      { name: "reference", version: "1.0.0" },
      {
        capabilities: {
          tools: { listChanged },
          resources: { subscribe: true, listChanged },
          prompts: { listChanged },
          logging: {},
          completions: {},
          extensions: { "io.modelcontextprotocol/tasks": {} }
        },
        requestState: { verify: codec.verify }
      }
    )
    registerPlainTools(server, {
      closeStream: (sessionId, requestId) => sessions.get(sessionId ?? "")?.closeSSEStream(requestId),
      toolsChanged: () => modern.notify.toolsChanged(),
      promptsChanged: () => modern.notify.promptsChanged()
    })
    registerInput(server)
    for (const name of TASK_TOOLS) {
      const inputSchema = fromJsonSchema<Record<string, unknown>>(NO_ARGUMENTS)
      server.registerTool(name, { description: `Scenario tool ${name}`, inputSchema }, async () => text("only modern"))
    }
    registerResources(server)
    registerPrompts(server)
    return server
  }

  const modern = createMcpHandler(aServer)

  const opened = async () => {
    const server = aServer()
    const transport: WebStandardStreamableHTTPServerTransport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      eventStore: eventStore(),
      retryInterval: RECONNECT_AFTER_MS,
      onsessioninitialized: (id) => {
        sessions.set(id, transport)
      },
      onsessionclosed: (id) => {
        sessions.delete(id)
      }
    })
    await server.connect(transport)
    return transport
  }

  return async (request: Request): Promise<Response> => {
    const refused = hostHeaderValidationResponse(request, localhostAllowedHostnames())
    if (refused !== undefined) return refused
    const sessionId = request.headers.get("mcp-session-id")
    const known = sessions.get(sessionId ?? "")
    if (request.method !== "POST") {
      return known?.handleRequest(request) ?? new Response(null, { status: sessionId === null ? 400 : 404 })
    }
    const body = (await request
      .clone()
      .json()
      .catch(() => undefined)) as unknown
    const [version, method] = ["mcp-protocol-version", "mcp-method"].map((name) => request.headers.get(name))
    const inbound = classifyInboundRequest({
      httpMethod: "POST",
      body,
      ...(typeof version !== "string" ? {} : { protocolVersionHeader: version }),
      ...(typeof method !== "string" ? {} : { mcpMethodHeader: method })
    })
    if (inbound.kind !== "legacy") return tasks(request.headers, body) ?? modern.fetch(request)
    if (known !== undefined) return known.handleRequest(request)
    if (sessionId === null && isInitializeRequest(body)) return (await opened()).handleRequest(request)
    const [status, message] = sessionId === null ? [400, "Session ID required"] : [404, "Session not found"]
    return Response.json({ jsonrpc: "2.0", id: null, error: { code: -32_000, message } }, { status })
  }
}

/** Its URL, while the scope is open. */
export const referenceServer = Effect.map(
  Effect.suspend(() => loopback(webListener(reference()))),
  (origin) => `${origin}/mcp`
)
