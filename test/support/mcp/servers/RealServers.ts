/**
 * MCP servers as providers run them, made with the official packages, on loopback: the 2.x SDK (which serves both
 * eras from one endpoint), the 1.x SDK with and without sessions, and server-everything in a process of its own.
 */
import { spawn } from "node:child_process"
import { randomUUID } from "node:crypto"
import type { IncomingMessage, ServerResponse } from "node:http"
import { Server as Server1 } from "@modelcontextprotocol/sdk/server/index.js"
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js"
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js"
import { CallToolRequestSchema, ElicitResultSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js"
import { createMcpHandler, inputRequired, Server as Server2 } from "@modelcontextprotocol/server"
import { Effect, type Scope } from "effect"
import { freePort } from "../../servers/FreePort.ts"
import { loopback, webListener } from "../../servers/Loopback.ts"

/** What a real server reports of itself to a test. */
export interface Observed {
  /** Requests by JSON-RPC method, in order. */
  readonly methods: Array<string>
  readonly versions: Array<string | undefined>
  readonly calls: Array<unknown>
  canceled: number
}

const observed = (): Observed => ({ methods: [], versions: [], calls: [], canceled: 0 })

const tools = [
  { name: "echo", inputSchema: { type: "object" as const } },
  { name: "fail", inputSchema: { type: "object" as const } },
  { name: "structured", inputSchema: { type: "object" as const } },
  { name: "slow", inputSchema: { type: "object" as const } },
  { name: "ask", inputSchema: { type: "object" as const } },
  { name: "progress", inputSchema: { type: "object" as const } },
  {
    name: "regional",
    inputSchema: { type: "object" as const, properties: { region: { type: "string", "x-mcp-header": "Region" } } }
  }
]

/** A page of `tools/list`. */
export type Listing = (cursor: string | undefined) => {
  readonly tools: ReadonlyArray<object>
  readonly nextCursor?: string
}

const fixed: Listing = () => ({ tools })

interface Use {
  readonly name: string
  readonly args: Readonly<Record<string, unknown>>
  readonly signal: AbortSignal
  readonly notify: () => Promise<void>
}

/** The tools, as plain functions; `ask` differs by SDK. */
const run = async ({ args, name, notify, signal }: Use, seen: Observed) => {
  seen.calls.push(args)
  switch (name) {
    case "echo":
    case "regional":
      return { content: [{ type: "text" as const, text: JSON.stringify(args) }] }
    case "fail":
      return { content: [{ type: "text" as const, text: "it did not work" }], isError: true }
    case "structured":
      return { content: [{ type: "text" as const, text: "{}" }], structuredContent: { temperature: 21.5, tags: ["a"] } }
    case "progress":
      await notify()
      await notify()
      return { content: [{ type: "text" as const, text: "after progress" }] }
    case "slow":
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, 60_000)
        signal.addEventListener("abort", () => {
          seen.canceled++
          clearTimeout(timer)
          resolve()
        })
      })
      return { content: [{ type: "text" as const, text: "at last" }] }
    default:
      throw new Error(`No such tool: ${name}`)
  }
}

/** The 2.x SDK. `legacy: "reject"` leaves only 2026-07-28. */
export const sdk2Server = (
  options: {
    readonly legacy?: "stateless" | "reject"
    readonly mode?: "auto" | "sse"
    readonly list?: Listing
  } = {}
) =>
  Effect.gen(function* () {
    const seen = observed()
    const handler = createMcpHandler(
      () => {
        const server = new Server2({ name: "sdk2", version: "2" }, { capabilities: { tools: {}, logging: {} } })
        server.setRequestHandler(
          "tools/list",
          async ({ params }) => (options.list ?? fixed)(params?.cursor) as { readonly tools: typeof tools }
        )
        server.setRequestHandler("tools/call", async (request, context) => {
          const { arguments: args = {}, name } = request.params
          if (name === "ask") {
            return inputRequired({
              inputRequests: {
                who: inputRequired.elicit({ message: "Who?", requestedSchema: { type: "object", properties: {} } })
              }
            })
          }
          const notify = () =>
            context.mcpReq.notify({ method: "notifications/message", params: { level: "info", data: "at work" } })
          return run({ name, args, signal: context.mcpReq.signal, notify }, seen)
        })
        return server
      },
      { legacy: options.legacy ?? "stateless", ...(options.mode === undefined ? {} : { responseMode: options.mode }) }
    )
    const origin = yield* loopback(
      webListener(async (request) => {
        note(seen, request.method, request.headers.get("mcp-protocol-version"), await request.clone().text())
        return handler.fetch(request)
      })
    )
    return { url: `${origin}/mcp`, seen }
  })

export interface Sdk1Server {
  readonly url: string
  readonly seen: Observed
  /** Forgets every session, as a restart would. */
  readonly forget: () => void
  readonly sessions: () => number
}

/** The 1.x SDK, with a session for each handshake or with none. */
export const sdk1Server = (options: {
  readonly stateful: boolean
  readonly json?: boolean
  readonly list?: Listing
}): Effect.Effect<Sdk1Server, never, Scope.Scope> =>
  Effect.gen(function* () {
    const seen = observed()
    const sessions = new Map<string, StreamableHTTPServerTransport>()
    const open = async () => {
      const server = new Server1({ name: "sdk1", version: "1" }, { capabilities: { tools: {}, logging: {} } })
      server.setRequestHandler(
        ListToolsRequestSchema,
        async ({ params }) => (options.list ?? fixed)(params?.cursor) as { readonly tools: typeof tools }
      )
      server.setRequestHandler(CallToolRequestSchema, async (request, extra) => {
        const { arguments: args = {}, name } = request.params
        if (name === "ask") {
          const params = { message: "Who?", requestedSchema: { type: "object", properties: {} } }
          await extra.sendRequest({ method: "elicitation/create", params } as never, ElicitResultSchema)
        }
        const notify = () =>
          extra.sendNotification({ method: "notifications/message", params: { level: "info", data: "at work" } })
        return run({ name, args, signal: extra.signal, notify }, seen)
      })
      const transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: options.stateful ? () => randomUUID() : undefined,
        enableJsonResponse: options.json === true,
        onsessioninitialized: (id) => void sessions.set(id, transport)
      } as ConstructorParameters<typeof StreamableHTTPServerTransport>[0])
      await server.connect(transport as Transport)
      return transport
    }
    const serve = async (request: IncomingMessage, response: ServerResponse) => {
      const text = await readText(request)
      note(seen, request.method, request.headers["mcp-protocol-version"], text)
      const id = request.headers["mcp-session-id"]
      if (options.stateful && typeof id === "string" && !sessions.has(id)) {
        response.writeHead(404, { "content-type": "application/json" })
        response.end(
          JSON.stringify({ jsonrpc: "2.0", id: null, error: { code: -32001, message: "Session not found" } })
        )
        return
      }
      const transport = (typeof id === "string" ? sessions.get(id) : undefined) ?? (await open())
      await transport.handleRequest(request, response, parsed(text))
    }
    const origin = yield* loopback((request, response) => void serve(request, response))
    return { url: `${origin}/mcp`, seen, forget: () => sessions.clear(), sessions: () => sessions.size }
  })

/** `@modelcontextprotocol/server-everything` over streamable HTTP. */
export const everythingServer = Effect.gen(function* () {
  const port = yield* freePort
  const script = new URL(
    "../../../../node_modules/@modelcontextprotocol/server-everything/dist/index.js",
    import.meta.url
  )
  yield* Effect.acquireRelease(
    Effect.callback<() => void>((resume) => {
      const child = spawn(process.execPath, [script.pathname, "streamableHttp"], {
        env: { ...process.env, PORT: String(port) },
        stdio: ["ignore", "ignore", "pipe"]
      })
      child.stderr.on("data", (data: Buffer) => {
        if (data.toString().includes("listening")) resume(Effect.succeed(() => void child.kill("SIGKILL")))
      })
    }),
    (stop) => Effect.sync(stop)
  )
  return { url: `http://127.0.0.1:${port}/mcp` }
})

const readText = async (request: IncomingMessage): Promise<string> => {
  const chunks: Array<Buffer> = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

const parsed = (text: string): unknown => (text === "" ? undefined : JSON.parse(text))

const note = (seen: Observed, httpMethod = "", version: string | ReadonlyArray<string> | null = null, text = "") => {
  seen.methods.push((parsed(text) as { readonly method?: string } | undefined)?.method ?? httpMethod)
  seen.versions.push(typeof version === "string" ? version : undefined)
}
