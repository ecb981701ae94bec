/**
 * Sends traces and logs to an OpenTelemetry collector, as OTLP/HTTP in JSON, with Effect's exporters: batches in the
 * background, and a bounded flush at a stop.
 */
import { Clock, ConfigProvider, Effect, Layer, Logger, Random, Redacted, Schedule, Schema } from "effect"
import { HttpBody, HttpClient, type HttpClientRequest, HttpClientResponse } from "effect/http"
import { OtlpLogger, OtlpSerialization, OtlpTracer } from "effect/observability"
import { Agent, request as send } from "undici"
import { type Signal, ProcessTelemetry, TraceSampler } from "../../domain/shared/Telemetry.ts"
import { monotonicMs, monotonicNowMs } from "../../domain/shared/Time.ts"

// Sends batches to the collector. Each batch has a deadline and a few attempts, and batches in flight are bounded in number
// and bytes: a slow or missing collector costs telemetry, never the service's memory or time.
//
// Effect's exporter would retry a batch for as long as the collector asks for it (`Retry-After`), without a bound on such
// batches. So the attempts are made here, and the final failure is a defect: the exporter then drops what it holds and
// pauses for a minute.

export const COLLECTOR_LIMITS = {
  /** An attempt lasts from the connection to the end of the response. */
  attemptMs: 5_000,
  attemptsMax: 3,
  pauseMs: 1_000,
  batchesInFlightMax: 8,
  bytesInFlightMax: 8 * 1024 * 1024
}
export type CollectorLimits = Readonly<typeof COLLECTOR_LIMITS>

const CONNECTIONS_MAX = 2
const SILENT_MS = 60_000
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

const collectorClient = (limits: CollectorLimits = COLLECTOR_LIMITS) =>
  Layer.effect(
    HttpClient.HttpClient,
    Effect.gen(function* () {
      const { exports: tally } = yield* ProcessTelemetry
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

// Samples a share of all work, plus a few a second that callers request. Both are bounded, so a flood of requests does not
// create more traces.

interface SamplerOptions {
  /** Share of all work: 0 for none, 1 for all up to the bound. */
  readonly ratio: number
  readonly perSecondMax?: number
  /** Limits the work whose caller requests a trace. */
  readonly askedPerSecondMax?: number
}

/** A trace of a call is half a dozen spans of about a kilobyte: at most a few hundred kilobytes a second. */
const TRACES_PER_SECOND_MAX = 100
export const ASKED_PER_SECOND_MAX = 5

export const makeSampler = (
  { askedPerSecondMax = ASKED_PER_SECOND_MAX, perSecondMax = TRACES_PER_SECOND_MAX, ratio }: SamplerOptions,
  random: () => number,
  nowMs: () => number
): TraceSampler => {
  const share = bucket(perSecondMax, nowMs)
  const requested = bucket(askedPerSecondMax, nowMs)
  return {
    takes: (asked) => (ratio > 0 && random() < ratio && share()) || (asked && requested())
  }
}

export const samplerOf = Effect.fnUntraced(function* (options: SamplerOptions) {
  const random = yield* Random.Random
  const clock = yield* Clock.Clock
  return makeSampler(
    options,
    () => random.nextDoubleUnsafe(),
    () => monotonicMs(clock)
  )
})

const boundedSampler = (options: SamplerOptions) => Layer.effect(TraceSampler, samplerOf(options))

/** A token bucket whose capacity is one second's refill. */
const bucket = (perSecond: number, nowMs: () => number): (() => boolean) => {
  let level = perSecond
  let filledMs = nowMs()
  return () => {
    const now = nowMs()
    level = Math.min(perSecond, level + ((now - filledMs) / 1_000) * perSecond)
    filledMs = now
    if (level < 1) return false
    level--
    return true
  }
}

interface OtlpOptions {
  /** The collector: `/v1/traces` and `/v1/logs` are appended. */
  readonly url: Redacted.Redacted
  readonly headers: Redacted.Redacted<Readonly<Record<string, string>>>
  readonly serviceName: string
  readonly version: string
  readonly instanceId: string
  readonly sampling: SamplerOptions
  readonly limits?: CollectorLimits
  readonly exportEveryMs?: number
}

const SPANS_IN_BATCH_MAX = 512
const LINES_IN_BATCH_MAX = 256
const EXPORT_EVERY_MS = 1_000
/** Each signal has so long: a stop may wait for one after the other. */
export const FLUSH_MS_MAX = 2_000
/** Longer texts, such as stacks, are cut. */
export const TEXT_CHARS_MAX = 8_192

/** Exports in addition to `loggers`. */
export const layer = (options: OtlpOptions, loggers: ReadonlyArray<Logger.Logger<unknown, unknown>>) =>
  Logger.layer([
    ...loggers,
    OtlpLogger.make({ ...common(options, "logs"), maxBatchSize: LINES_IN_BATCH_MAX, excludeLogSpans: true })
  ]).pipe(
    Layer.provideMerge(OtlpTracer.layer({ ...common(options, "traces"), maxBatchSize: SPANS_IN_BATCH_MAX })),
    Layer.merge(boundedSampler(options.sampling)),
    Layer.provide([
      collectorClient(options.limits),
      json,
      // Effect's exporters must not read their own settings from the environment.
      ConfigProvider.layer(ConfigProvider.fromUnknown({})),
      // The exporters' own lines are not sent to the collector.
      Logger.layer(loggers)
    ])
  )

const common = (options: OtlpOptions, signal: "traces" | "logs") => ({
  url: `${Redacted.value(options.url)}/v1/${signal}`,
  headers: Redacted.value(options.headers),
  exportInterval: options.exportEveryMs ?? EXPORT_EVERY_MS,
  shutdownTimeout: FLUSH_MS_MAX,
  resource: {
    serviceName: options.serviceName,
    serviceVersion: options.version,
    attributes: { "service.instance.id": options.instanceId }
  }
})

const cut = (_key: string, value: unknown): unknown => {
  if (typeof value === "string" && value.length > TEXT_CHARS_MAX) return `${value.slice(0, TEXT_CHARS_MAX)}…`
  // OTLP/JSON encodes these as strings; JSON.stringify would write null.
  return typeof value === "number" && !Number.isFinite(value) ? String(value) : value
}

const body = (data: unknown): HttpBody.HttpBody => HttpBody.text(JSON.stringify(data, cut), "application/json")

const json = Layer.succeed(OtlpSerialization.OtlpSerialization, { traces: body, metrics: body, logs: body })
