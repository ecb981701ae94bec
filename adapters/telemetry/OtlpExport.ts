/**
 * Sends traces and logs to an OpenTelemetry collector, as OTLP/HTTP in JSON, with Effect's exporters: batches in the
 * background, and a bounded flush at a stop.
 */
import { ConfigProvider, Layer, Logger, Redacted } from "effect"
import { HttpBody } from "effect/http"
import { OtlpLogger, OtlpSerialization, OtlpTracer } from "effect/observability"
import * as BoundedSampler from "./BoundedSampler.ts"
import * as CollectorClient from "./CollectorClient.ts"

export interface OtlpOptions {
  /** The collector: `/v1/traces` and `/v1/logs` are appended. */
  readonly url: Redacted.Redacted
  /** Such as a vendor's API key. */
  readonly headers: Redacted.Redacted<Readonly<Record<string, string>>>
  readonly serviceName: string
  readonly version: string
  /** Of this process. */
  readonly instanceId: string
  readonly sampling: BoundedSampler.SamplerOptions
  readonly limits?: CollectorClient.CollectorLimits
  readonly exportEveryMs?: number
}

const SPANS_IN_BATCH_MAX = 512
const LINES_IN_BATCH_MAX = 256
const EXPORT_EVERY_MS = 1_000
/** For each signal: a stop may wait for one after the other. */
export const FLUSH_MS_MAX = 2_000
/** Longer texts, such as stacks, are cut. */
export const TEXT_CHARS_MAX = 8_192

/** In addition to `loggers`. */
export const layer = (options: OtlpOptions, loggers: ReadonlyArray<Logger.Logger<unknown, unknown>>) =>
  Logger.layer([
    ...loggers,
    OtlpLogger.make({ ...common(options, "logs"), maxBatchSize: LINES_IN_BATCH_MAX, excludeLogSpans: true })
  ]).pipe(
    Layer.provideMerge(OtlpTracer.layer({ ...common(options, "traces"), maxBatchSize: SPANS_IN_BATCH_MAX })),
    Layer.merge(BoundedSampler.layer(options.sampling)),
    Layer.provide([
      CollectorClient.layer(options.limits),
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
