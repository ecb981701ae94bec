/**
 * Sends batches to the collector. Each batch has a deadline and a few attempts, and batches in flight are bounded in number
 * and bytes: a slow or missing collector costs telemetry, never the service's memory or time.
 *
 * Effect's exporter would retry a batch for as long as the collector asks for it (`Retry-After`), without a bound on such
 * batches. So the attempts are made here, and the final failure is a defect: the exporter then drops what it holds and
 * pauses for a minute.
 */
import { Effect, Layer, Schedule, Schema } from "effect"
import { HttpClient, type HttpClientRequest, HttpClientResponse } from "effect/http"
import { Agent, request as send } from "undici"
import { type Signal, TelemetryTally } from "../../domain/platform/TelemetryTally.ts"
import { monotonicNowMs } from "../../domain/shared/Time.ts"

export const COLLECTOR_LIMITS = {
  /** Of one attempt, from the connection to the end of the response. */
  attemptMs: 5_000,
  attemptsMax: 3,
  pauseMs: 1_000,
  batchesInFlightMax: 8,
  bytesInFlightMax: 8 * 1024 * 1024
}
export type CollectorLimits = Readonly<typeof COLLECTOR_LIMITS>

const CONNECTIONS_MAX = 2
const SILENT_MS = 60_000
/** Worth a retry. */
const TRANSIENT: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504])
/** Only the status of a response is used. */
const RESPONSE_BYTES_MAX = 65_536

export class CollectorFailed extends Schema.TaggedError<CollectorFailed>()("CollectorFailed", {
  signal: Schema.Literals(["traces", "logs"]),
  problem: Schema.String
}) {
  override get message() {
    return `The collector at OTLP_URL did not take ${this.signal}: ${this.problem}. The service pauses for a minute.`
  }
}

class Transient extends Schema.TaggedError<Transient>()("Transient", { problem: Schema.String }) {}

export const layer = (limits: CollectorLimits = COLLECTOR_LIMITS) =>
  Layer.effect(
    HttpClient.HttpClient,
    Effect.gen(function* () {
      const tally = yield* TelemetryTally
      const agent = yield* Effect.acquireRelease(
        Effect.sync(() => new Agent({ connections: CONNECTIONS_MAX, pipelining: 1 })),
        (made) => Effect.promise(() => made.destroy())
      )
      const inFlight = { batches: 0, bytes: 0 }
      const loggedMs = { traces: Number.NEGATIVE_INFINITY, logs: Number.NEGATIVE_INFINITY }

      /** Batches in flight fail together, so one line is logged for all of them. */
      const giveUp = Effect.fnUntraced(function* (signal: Signal, problem: string): Effect.fn.Return<never> {
        const failed = new CollectorFailed({ signal, problem })
        const nowMs = yield* monotonicNowMs
        const isFirst = nowMs - loggedMs[signal] > SILENT_MS
        if (isFirst) loggedMs[signal] = nowMs
        return yield* Effect.andThen(isFirst ? Effect.logWarning(failed.message) : Effect.void, Effect.die(failed))
      })

      const attempt = (headers: Readonly<Record<string, string>>, url: URL, body: Uint8Array) =>
        Effect.tryPromise({
          try: async (signal) => {
            const { body: response, statusCode } = await send(url, {
              method: "POST",
              headers,
              body,
              dispatcher: agent,
              signal
            })
            await response.dump({ limit: RESPONSE_BYTES_MAX, signal })
            return statusCode
          },
          catch: (error) => new Transient({ problem: error instanceof Error ? error.message : String(error) })
        }).pipe(
          Effect.timeoutOrElse({
            duration: limits.attemptMs,
            orElse: () => Effect.fail(new Transient({ problem: `no response within ${limits.attemptMs} ms` }))
          }),
          Effect.filterOrFail(
            (status) => !TRANSIENT.has(status),
            (status) => new Transient({ problem: `its response status was ${status}` })
          )
        )

      const post = Effect.fnUntraced(function* (request: HttpClientRequest.HttpClientRequest, url: URL) {
        const signal: Signal = url.pathname.endsWith("/v1/logs") ? "logs" : "traces"
        if (request.body._tag !== "Uint8Array") return yield* Effect.die(new Error("An export has a body of bytes"))
        const { body, contentType } = request.body
        if (inFlight.batches >= limits.batchesInFlightMax || inFlight.bytes + body.length > limits.bytesInFlightMax) {
          tally.count(signal, "dropped")
          return yield* giveUp(signal, "too many batches are in flight")
        }
        inFlight.batches++
        inFlight.bytes += body.length
        const status = yield* attempt({ ...request.headers, "content-type": contentType }, url, body).pipe(
          Effect.retry({ times: limits.attemptsMax - 1, schedule: Schedule.spaced(limits.pauseMs) }),
          Effect.tapError(() => Effect.sync(() => tally.count(signal, "failed"))),
          Effect.catch(({ problem }) => giveUp(signal, problem)),
          Effect.ensuring(
            Effect.sync(() => {
              inFlight.batches--
              inFlight.bytes -= body.length
            })
          )
        )
        if (status >= 300) {
          tally.count(signal, "failed")
          return yield* giveUp(signal, `its response status was ${status}`)
        }
        tally.count(signal, "sent")
        return HttpClientResponse.fromWeb(request, new Response(null, { status: status === 200 ? 200 : 204 }))
      })

      return HttpClient.make((request, url) => Effect.withTracerEnabled(post(request, url), false))
    })
  )
