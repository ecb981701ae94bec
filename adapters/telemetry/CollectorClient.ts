/**
 * The way to the collector. A batch has a deadline and a few attempts, and what is under way at once is bounded in number
 * and bytes: a collector that is slow, hangs or is gone costs telemetry, never the service's memory or time.
 *
 * The exporter in front of it would try a failure again for as long as the collector asks it to (`Retry-After`), with the
 * batch in its hands and without counting such batches. So attempts are made here, and whatever has failed in the end is a
 * defect: the exporter then drops what it holds and leaves the collector alone for a minute.
 */
import { Effect, Layer, Schedule, Schema } from "effect"
import { HttpClient, type HttpClientRequest, HttpClientResponse } from "effect/http"
import { Agent, request as send } from "undici"
import { type Signal, TelemetryTally } from "../../domain/platform/TelemetryTally.ts"

export interface CollectorLimits {
  /** One attempt, from the connection to the end of the answer. */
  readonly attemptMs: number
  readonly attemptsMax: number
  readonly pauseMs: number
  readonly batchesUnderWayMax: number
  readonly bytesUnderWayMax: number
}

export const COLLECTOR_LIMITS: CollectorLimits = {
  attemptMs: 5_000,
  attemptsMax: 3,
  pauseMs: 1_000,
  batchesUnderWayMax: 8,
  bytesUnderWayMax: 8 * 1024 * 1024
}

const CONNECTIONS_MAX = 2
const SILENT_MS = 60_000
/** Too much at once, or not itself at the moment. */
const PASSING: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504])
/** Of an answer nobody reads more than its status. */
const ANSWER_BYTES_MAX = 65_536

export class CollectorFailed extends Schema.TaggedError<CollectorFailed>()("CollectorFailed", {
  signal: Schema.Literals(["traces", "logs"]),
  problem: Schema.String
}) {
  override get message() {
    return `The collector at OTLP_URL did not take ${this.signal}: ${this.problem}. None are sent for a minute.`
  }
}

/** Another attempt may fare better. */
class Passing extends Schema.TaggedError<Passing>()("Passing", { problem: Schema.String }) {}

export const layer = (limits: CollectorLimits = COLLECTOR_LIMITS) =>
  Layer.effect(
    HttpClient.HttpClient,
    Effect.gen(function* () {
      const tally = yield* TelemetryTally
      const agent = yield* Effect.acquireRelease(
        Effect.sync(() => new Agent({ connections: CONNECTIONS_MAX, pipelining: 1 })),
        (made) => Effect.promise(() => made.destroy())
      )
      const underWay = { batches: 0, bytes: 0 }
      const saidMs = { traces: Number.NEGATIVE_INFINITY, logs: Number.NEGATIVE_INFINITY }

      /** Batches that were under way together fail together: one line tells of all of them. */
      const giveUp = (signal: Signal, problem: string): Effect.Effect<never> => {
        const failed = new CollectorFailed({ signal, problem })
        const isNews = performance.now() - saidMs[signal] > SILENT_MS
        if (isNews) saidMs[signal] = performance.now()
        return Effect.andThen(isNews ? Effect.logWarning(failed.message) : Effect.void, Effect.die(failed))
      }

      const attempt = (headers: Readonly<Record<string, string>>, url: URL, body: Uint8Array) =>
        Effect.tryPromise({
          try: async (signal) => {
            const { body: answer, statusCode } = await send(url, {
              method: "POST",
              headers,
              body,
              dispatcher: agent,
              signal
            })
            await answer.dump({ limit: ANSWER_BYTES_MAX, signal })
            return statusCode
          },
          catch: (error) => new Passing({ problem: error instanceof Error ? error.message : String(error) })
        }).pipe(
          Effect.timeoutOrElse({
            duration: limits.attemptMs,
            orElse: () => Effect.fail(new Passing({ problem: `no answer within ${limits.attemptMs} ms` }))
          }),
          Effect.filterOrFail(
            (status) => !PASSING.has(status),
            (status) => new Passing({ problem: `it answered with ${status}` })
          )
        )

      const post = Effect.fnUntraced(function* (request: HttpClientRequest.HttpClientRequest, url: URL) {
        const signal: Signal = url.pathname.endsWith("/v1/logs") ? "logs" : "traces"
        if (request.body._tag !== "Uint8Array") return yield* Effect.die(new Error("An export has a body of bytes"))
        const { body, contentType } = request.body
        if (underWay.batches >= limits.batchesUnderWayMax || underWay.bytes + body.length > limits.bytesUnderWayMax) {
          tally.count(signal, "refused")
          return yield* giveUp(signal, "it is behind by more than this process may keep")
        }
        underWay.batches++
        underWay.bytes += body.length
        const status = yield* attempt({ ...request.headers, "content-type": contentType }, url, body).pipe(
          Effect.retry({ times: limits.attemptsMax - 1, schedule: Schedule.spaced(limits.pauseMs) }),
          Effect.tapError(() => Effect.sync(() => tally.count(signal, "failed"))),
          Effect.catch(({ problem }) => giveUp(signal, problem)),
          Effect.ensuring(
            Effect.sync(() => {
              underWay.batches--
              underWay.bytes -= body.length
            })
          )
        )
        if (status >= 300) {
          tally.count(signal, "failed")
          return yield* giveUp(signal, `it answered with ${status}`)
        }
        tally.count(signal, "sent")
        return HttpClientResponse.fromWeb(request, new Response(null, { status: status === 200 ? 200 : 204 }))
      })

      return HttpClient.make((request, url) => Effect.withTracerEnabled(post(request, url), false))
    })
  )
