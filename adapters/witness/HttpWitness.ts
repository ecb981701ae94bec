/**
 * A witness's side of HTTP: reads the log, bounded in time and size because the log is not trusted, and serves the last
 * checkpoint that the witness signed.
 */
import { Duration, Effect, Layer } from "effect"
import { FetchHttpClient, HttpClient, HttpClientRequest } from "effect/http"
import { createServer } from "node:http"
import { LogReader, LogUnreachable } from "../../domain/log/Witness.ts"

const ANSWER_BYTES_MAX = 65_536
const READ_TIMEOUT = Duration.seconds(10)

/** Reads as C2SP tlog-tiles says. `prefix` has no trailing slash. */
export const httpLogReader = (prefix: string): Layer.Layer<LogReader> =>
  Layer.effect(
    LogReader,
    Effect.gen(function* () {
      const client = yield* HttpClient.HttpClient
      const get = Effect.fnUntraced(
        function* (path: string) {
          const answer = yield* client.execute(HttpClientRequest.get(`${prefix}/${path}`))
          if (answer.status !== 200)
            return yield* new LogUnreachable({ problem: `${path} was answered ${answer.status}` })
          const bytes = new Uint8Array(yield* answer.arrayBuffer)
          if (bytes.length > ANSWER_BYTES_MAX) return yield* new LogUnreachable({ problem: `${path} is too large` })
          return bytes
        },
        (effect, path) =>
          effect.pipe(
            Effect.timeout(READ_TIMEOUT),
            Effect.mapError((error) =>
              error._tag === "LogUnreachable" ? error : new LogUnreachable({ problem: `${path}: ${error.message}` })
            )
          )
      )
      return LogReader.of({
        checkpoint: Effect.map(get("checkpoint"), (bytes) => new TextDecoder().decode(bytes)),
        tile: (path) => get(`tile/${path}`)
      })
    })
  ).pipe(Layer.provide(FetchHttpClient.layer))

interface Shown {
  readonly key: string
  checkpoint(): string | undefined
}

/** Serves the checkpoint and its key until the scope ends. */
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
