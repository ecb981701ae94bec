/**
 * The baseline of the proxy: node:http in, undici `dispatch` out, no checks, no billing, no framework.
 */
import { createServer } from "node:http"
import { Pool } from "undici"
import { toolsCall } from "./bareToolsCall.ts"

const upstream = new Pool(`http://127.0.0.1:${process.argv[2]}`, { connections: 256, pipelining: 1 })

const server = createServer((request, response) => {
  const chunks: Array<Buffer> = []
  request.on("data", (chunk: Buffer) => chunks.push(chunk))
  request.on("end", () =>
    toolsCall(upstream, Buffer.concat(chunks), (body) => {
      response.writeHead(200, { "content-type": "application/json", "content-length": body.length })
      response.end(body)
    })
  )
})
server.listen(0, "127.0.0.1", 1_024, () => {
  const address = server.address()
  process.stdout.write(`listening ${typeof address === "object" && address !== null ? address.port : 0}\n`)
})
