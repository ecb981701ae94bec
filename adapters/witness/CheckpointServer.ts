/**
 * Serves a witness's last signed checkpoint and its key.
 */
import { Effect } from "effect"
import { createServer } from "node:http"

export interface Shown {
  readonly key: string
  checkpoint(): string | undefined
}

/** Listens until the scope ends. */
export const serveCheckpoints = (host: string, port: number, shown: Shown) =>
  Effect.acquireRelease(
    Effect.callback<{ close(): void; readonly port: number }, Error>((resume) => {
      const server = createServer(
        { requestTimeout: 10_000, headersTimeout: 5_000, maxHeaderSize: 8_192 },
        (request, response) => {
          const text =
            request.method !== "GET"
              ? undefined
              : request.url === "/checkpoint"
                ? shown.checkpoint()
                : request.url === "/vkey"
                  ? `${shown.key}\n`
                  : undefined
          response.writeHead(text === undefined ? 404 : 200, {
            "content-type": "text/plain; charset=utf-8",
            "cache-control": "no-store",
            "x-content-type-options": "nosniff"
          })
          response.end(text ?? "")
        }
      )
      server.once("error", (error) => resume(Effect.fail(error)))
      server.listen(port, host, () => {
        const address = server.address()
        resume(
          Effect.succeed({
            port: typeof address === "object" && address !== null ? address.port : port,
            close: () => {
              server.close()
              server.closeAllConnections()
            }
          })
        )
      })
    }),
    (server) => Effect.sync(() => server.close())
  )
