/**
 * HTTP servers on loopback.
 */
import { createServer, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import { Readable } from "node:stream"
import type { ReadableStream } from "node:stream/web"
import { Effect } from "effect"

/** The origin of a server that stops with the scope: `http://127.0.0.1:PORT`. */
export const loopback = (listener: RequestListener) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.callback<{ readonly origin: string; readonly stop: () => void }>((resume) => {
        const server = createServer(listener)
        server.listen(0, "127.0.0.1", () =>
          resume(
            Effect.succeed({
              origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
              stop: () => {
                server.close()
                server.closeAllConnections()
              }
            })
          )
        )
      }),
      ({ stop }) => Effect.sync(stop)
    ),
    ({ origin }) => origin
  )

/** Passes requests to a handler of web requests, and streams the responses. */
export const webListener =
  (handle: (request: Request) => Promise<Response>): RequestListener =>
  (incoming, outgoing) => {
    const serve = async (): Promise<void> => {
      const gone = new AbortController()
      outgoing.on("close", () => gone.abort())
      const chunks: Array<Buffer> = []
      for await (const chunk of incoming) chunks.push(chunk as Buffer)
      const headers = new Headers()
      for (const [name, value] of Object.entries(incoming.headers)) headers.set(name, String(value))
      const { method = "GET", url = "/" } = incoming
      const response = await handle(
        new Request(`http://${incoming.headers.host}${url}`, {
          method,
          headers,
          signal: gone.signal,
          ...(method === "POST" ? { body: Buffer.concat(chunks) } : {})
        })
      )
      outgoing.writeHead(response.status, Object.fromEntries(response.headers))
      outgoing.flushHeaders()
      if (response.body === null) return void outgoing.end()
      const stream = Readable.fromWeb(response.body as ReadableStream)
      stream.on("error", () => outgoing.destroy())
      outgoing.on("close", () => stream.destroy())
      stream.pipe(outgoing)
    }
    serve().catch(() => outgoing.destroy())
  }
