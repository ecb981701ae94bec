/**
 * A provider's server of the legacy era whose calls last until the test ends them, and an HTTP client that sees each event.
 */
import { randomUUID } from "node:crypto"
import type { ServerResponse } from "node:http"
import { Effect } from "effect"
import {
  event,
  json,
  result,
  rpcError,
  type Seen,
  scriptedServer,
  stream,
  text
} from "../../../../testing/mcp/ScriptedServer.ts"

interface Open {
  readonly seen: Seen
  readonly response: ServerResponse
}

const TOOLS = ["wait", "drop"].map((name) => ({ name, inputSchema: { type: "object" } }))

/** A call with a progress token sends one report at once; its result when the test says so. Any other request stays open. */
export const gatedServer = Effect.gen(function* () {
  const open: Array<Open> = []
  const live = new Set<string>()
  const server = yield* scriptedServer({
    era: "stateful",
    onCall: (seen, response) => {
      const session = String(seen.headers["mcp-session-id"])
      if (!live.has(session)) return json(response, rpcError(seen, -32001, "Session not found"), 404)
      stream(response)
      const meta = seen.params["_meta"] as { readonly progressToken?: unknown } | undefined
      if (meta?.progressToken !== undefined) {
        const params = { progressToken: meta.progressToken, progress: 1 }
        response.write(event({ jsonrpc: "2.0", method: "notifications/progress", params }))
      }
      open.push({ seen, response })
    },
    onOther: (seen, response) => {
      if (seen.method === "initialize") {
        const session = randomUUID()
        live.add(session)
        const capabilities = { tools: {}, resources: { subscribe: true }, logging: {} }
        const { protocolVersion } = seen.params
        const answer = { protocolVersion, capabilities, serverInfo: { name: "gated", version: "1" } }
        json(response, result(seen, answer), 200, { "mcp-session-id": session })
        return true
      }
      if (seen.http === "GET") {
        response.writeHead(405).end()
        return true
      }
      if (seen.id === undefined) return false
      if (!live.has(String(seen.headers["mcp-session-id"]))) {
        json(response, rpcError(seen, -32001, "Session not found"), 404)
      } else if (seen.method === "resources/read") {
        open.push({ seen, response })
      } else if (seen.method === "logging/setLevel") {
        json(response, result(seen, {}))
      } else if (seen.method === "tools/list") {
        json(response, result(seen, { tools: TOOLS }))
      } else {
        json(response, result(seen, { answered: seen.method }))
      }
      return true
    }
  })
  return {
    server,
    open,
    /** Reports progress of the nth open call, from 0. */
    report: (n: number, progress: number): void => {
      const { response, seen } = open[n]!
      const { progressToken } = seen.params["_meta"] as { readonly progressToken: unknown }
      response.write(event({ jsonrpc: "2.0", method: "notifications/progress", params: { progressToken, progress } }))
    },
    /** Sends the result of the nth open call, from 0. */
    finish: (n: number, value = "done"): void => {
      const { response, seen } = open[n]!
      response.end(event(result(seen, text(value))))
    },
    /** Forgets every session, as a restart would. */
    restart: (): void => live.clear(),
    /** As a crash in the middle of its calls, and a start after it. */
    crash: (): void => {
      live.clear()
      for (const { response } of open.splice(0)) response.destroy()
    }
  }
})

export interface StreamedEvent {
  readonly id: string | undefined
  readonly data: string
}

/** Reads the events of a response as they come. */
export const eventsOf = (response: Response) => {
  const events: Array<StreamedEvent> = []
  const state = { events, ended: false, failed: false }
  const reading = async () => {
    let rest = ""
    const decoder = new TextDecoder()
    for await (const chunk of response.body!) {
      rest += decoder.decode(chunk as Uint8Array, { stream: true })
      const blocks = rest.split("\n\n")
      rest = blocks.pop()!
      for (const block of blocks) {
        const lines = block.split("\n")
        const data = lines.filter((line) => line.startsWith("data:")).map((line) => line.slice(5).trimStart())
        const id = lines
          .find((line) => line.startsWith("id:"))
          ?.slice(3)
          .trim()
        if (data.length > 0 || id !== undefined) events.push({ id, data: data.join("\n") })
      }
    }
  }
  reading().then(
    () => (state.ended = true),
    () => (state.failed = true)
  )
  return state
}
