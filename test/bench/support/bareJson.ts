/**
 * The baseline: a node:http server that answers every request with its given JSON text, and does nothing else.
 */
import { createServer } from "node:http"

const body = process.argv[2] ?? "{}"
const server = createServer((_request, response) => {
  response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(body) })
  response.end(body)
})
server.listen(0, "127.0.0.1", () => {
  const address = server.address()
  process.stdout.write(`listening ${typeof address === "object" && address !== null ? address.port : 0}\n`)
})
