/**
 * A minimal MCP server, for benchmarks: run as a process of its own, answers every tool call with its arguments as
 * text. `modern` or `legacy` is the first argument, how many tools it lists besides `echo` the second, how many
 * milliseconds a call takes the third; prints its port.
 */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

const modern = process.argv[2] === "modern"
const callMs = Number(process.argv[4] ?? 0)

const tools = ["echo", ...Array.from({ length: Number(process.argv[3] ?? 0) }, (_, n) => `tool_${n}`)].map((name) => ({
  name,
  description: `Returns the arguments of ${name}`,
  inputSchema: { type: "object", properties: { text: { type: "string", description: "Anything" } } }
}))

interface Request {
  readonly id?: number
  readonly method: string
  readonly params?: { readonly arguments?: unknown }
}

const answer = (request: Request): unknown => {
  switch (request.method) {
    case "server/discover":
      return modern
        ? { result: { resultType: "complete", supportedVersions: ["2026-07-28"], capabilities: { tools: {} } } }
        : { error: { code: -32601, message: "Method not found" } }
    case "initialize":
      return {
        result: {
          protocolVersion: "2025-11-25",
          capabilities: { tools: {} },
          serverInfo: { name: "trivial", version: "1" }
        }
      }
    case "tools/list":
      return { result: { resultType: "complete", tools } }
    default:
      return {
        result: { resultType: "complete", content: [{ type: "text", text: JSON.stringify(request.params?.arguments) }] }
      }
  }
}

const server = createServer((incoming, outgoing) => {
  let text = ""
  incoming.setEncoding("utf8")
  incoming.on("data", (chunk: string) => {
    text += chunk
  })
  incoming.on("end", () => {
    const request = JSON.parse(text) as Request
    if (request.id === undefined) return outgoing.writeHead(202).end()
    const body = JSON.stringify({ jsonrpc: "2.0", id: request.id, ...(answer(request) as object) })
    const respond = () =>
      outgoing
        .writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(body) })
        .end(body)
    return callMs > 0 && request.method === "tools/call" ? setTimeout(respond, callMs) : respond()
  })
})

server.listen(0, "127.0.0.1", () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`)
})
