/**
 * The baseline of the proxy: node:http in, undici `dispatch` out, no checks, no billing, no framework. It implements
 * enough of the upstream's protocol to send one `tools/call` per request, and streams the response through.
 */
import { createServer, type ServerResponse } from "node:http"
import { type Dispatcher, Pool } from "undici"

const upstream = new Pool(`http://127.0.0.1:${process.argv[2]}`, { connections: 256, pipelining: 1 })

class Relay implements Dispatcher.DispatchHandler {
  private readonly response: ServerResponse
  private readonly chunks: Array<Buffer> = []
  constructor(response: ServerResponse) {
    this.response = response
  }
  onRequestStart() {}
  onResponseStart() {}
  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer) {
    this.chunks.push(chunk)
  }
  onResponseEnd() {
    const body = Buffer.concat(this.chunks)
    this.response.writeHead(200, { "content-type": "application/json", "content-length": body.length })
    this.response.end(body)
  }
  onResponseError(_controller: Dispatcher.DispatchController, error: Error) {
    this.response.writeHead(502, { "content-length": 0 })
    this.response.end()
    process.stderr.write(`${error.message}\n`)
  }
}

let id = 0

const server = createServer((request, response) => {
  const chunks: Array<Buffer> = []
  request.on("data", (chunk: Buffer) => chunks.push(chunk))
  request.on("end", () => {
    const { tool_name, input } = JSON.parse(Buffer.concat(chunks).toString()) as { tool_name: string; input: unknown }
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
    upstream.dispatch(
      {
        path: "/mcp",
        method: "POST",
        headers: {
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          "mcp-protocol-version": "2026-07-28",
          "mcp-method": "tools/call",
          "mcp-name": tool_name
        },
        body
      },
      new Relay(response)
    )
  })
})
server.listen(0, "127.0.0.1", 1_024, () => {
  const address = server.address()
  process.stdout.write(`listening ${typeof address === "object" && address !== null ? address.port : 0}\n`)
})
