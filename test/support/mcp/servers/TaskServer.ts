/**
 * A provider's server with tasks of version 2025-11-25, made with the official 1.x SDK. Its tasks belong to the session that
 * started them, as in the SDK's own store.
 */
import { randomUUID } from "node:crypto"
import type { IncomingMessage, ServerResponse } from "node:http"
import {
  InMemoryTaskMessageQueue,
  InMemoryTaskStore
} from "@modelcontextprotocol/sdk/experimental/tasks/stores/in-memory.js"
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js"
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js"
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js"
import { Effect } from "effect"
import { loopback } from "../../servers/Loopback.ts"

export interface TaskServer {
  readonly url: string
  /** JSON-RPC methods, and HTTP methods of other requests, in order. */
  readonly seen: Array<string>
  /** The server's ids of its tasks, in order. */
  readonly started: Array<string>
  /** What clients asked for, by `task.ttl`. */
  readonly ttls: Array<number | undefined>
  /** Methods that it leaves without a response from now on. A `tools/call` of a task is left after its task was started. */
  readonly silent: Set<string>
  /** Ends the task that was started last, or this one. */
  finish(status: "completed" | "failed", result: Readonly<Record<string, unknown>>, taskId?: string): Promise<void>
  /** Changes its state otherwise. */
  become(status: "working" | "input_required" | "cancelled"): Promise<void>
  /** Forgets every session, as a restart would. */
  forget(): void
  sessions(): number
}

/** The tools `job` (a task), `maybe` (a task or not) and `plain` (none). */
export const taskServer = Effect.gen(function* () {
  const store = new InMemoryTaskStore()
  const queue = new InMemoryTaskMessageQueue()
  const transports = new Map<string, StreamableHTTPServerTransport>()
  const seen: Array<string> = []
  const started: Array<string> = []
  const ttls: Array<number | undefined> = []
  const silent = new Set<string>()

  const open = async () => {
    const server = new McpServer(
      { name: "tasks", version: "1" },
      {
        capabilities: { tools: {}, tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } },
        taskStore: store,
        taskMessageQueue: queue
      }
    )
    for (const [name, taskSupport] of [
      ["job", "required"],
      ["maybe", "optional"]
    ] as const) {
      server.experimental.tasks.registerToolTask(
        name,
        { description: name, execution: { taskSupport } },
        {
          createTask: async (extra) => {
            ttls.push(extra.taskRequestedTtl ?? undefined)
            const task = await extra.taskStore.createTask({ ttl: extra.taskRequestedTtl ?? null, pollInterval: 500 })
            started.push(task.taskId)
            return silent.has("tools/call") ? new Promise<never>(() => {}) : { task }
          },
          getTask: async (extra) => extra.taskStore.getTask(extra.taskId),
          getTaskResult: async (extra) => (await extra.taskStore.getTaskResult(extra.taskId)) as never
        }
      )
    }
    server.registerTool("plain", { description: "plain" }, () => ({ content: [{ type: "text", text: "plain" }] }))
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => void transports.set(id, transport),
      onsessionclosed: (id) => void transports.delete(id)
    })
    await server.connect(transport as Transport)
    return transport
  }

  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Array<Buffer> = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const text = Buffer.concat(chunks).toString()
    const message = text === "" ? undefined : (JSON.parse(text) as { readonly method?: string })
    seen.push(message?.method ?? request.method ?? "")
    if (message?.method?.startsWith("tasks/") === true && silent.has(message.method)) return
    const id = request.headers["mcp-session-id"]
    if (typeof id === "string" && !transports.has(id)) {
      const error = { code: -32_001, message: "Session not found" }
      response.writeHead(404, { "content-type": "application/json" })
      return void response.end(JSON.stringify({ jsonrpc: "2.0", id: null, error }))
    }
    const transport = (typeof id === "string" ? transports.get(id) : undefined) ?? (await open())
    await transport.handleRequest(request, response, message)
  }
  const origin = yield* loopback((request, response) => void serve(request, response))
  const server: TaskServer = {
    url: `${origin}/mcp`,
    seen,
    started,
    ttls,
    silent,
    finish: (status, result, taskId = started.at(-1)!) => store.storeTaskResult(taskId, status, result as never),
    become: (status) => store.updateTaskStatus(started.at(-1)!, status),
    forget: () => transports.clear(),
    sessions: () => transports.size
  }
  yield* Effect.addFinalizer(() => Effect.sync(() => store.cleanup()))
  return server
})
