/**
 * Sends one `tools/call` per request by undici's `dispatch`: enough of the protocol for `trivialServer.ts`.
 */
import type { Dispatcher, Pool } from "undici"

class Relay implements Dispatcher.DispatchHandler {
  private readonly done: (body: Buffer) => void
  private readonly chunks: Array<Buffer> = []
  constructor(done: (body: Buffer) => void) {
    this.done = done
  }
  onRequestStart() {}
  onResponseStart() {}
  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer) {
    this.chunks.push(chunk)
  }
  onResponseEnd() {
    this.done(Buffer.concat(this.chunks))
  }
  onResponseError(_controller: Dispatcher.DispatchController, error: Error) {
    throw error
  }
}

let id = 0

/** `request`: the body of a request to the proxy. Calls back with the body of the response. */
export const toolsCall = (upstream: Pool, request: Buffer, done: (body: Buffer) => void): void => {
  const { input, tool_name } = JSON.parse(request.toString()) as { tool_name: string; input: unknown }
  const body = JSON.stringify({
    jsonrpc: "2.0",
    id: id++,
    method: "tools/call",
    params: {
      name: tool_name,
      arguments: input,
      _meta: {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { name: "bare", version: "1" },
        "io.modelcontextprotocol/clientCapabilities": {}
      }
    }
  })
  const headers = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "tools/call",
    "mcp-name": tool_name
  }
  upstream.dispatch({ path: "/mcp", method: "POST", headers, body }, new Relay(done))
}
