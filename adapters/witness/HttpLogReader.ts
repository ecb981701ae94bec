/**
 * Reads a log over HTTP (C2SP tlog-tiles). Bounded in time and size, because the log is not trusted.
 */
import { Duration, Effect, Layer } from "effect"
import { FetchHttpClient, HttpClient, HttpClientRequest } from "effect/http"
import { LogReader, LogUnreachable } from "../../domain/log/Witness.ts"

const ANSWER_BYTES_MAX = 65_536
const READ_TIMEOUT = Duration.seconds(10)

/** `prefix` without a trailing slash. */
export const layer = (prefix: string): Layer.Layer<LogReader> =>
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
