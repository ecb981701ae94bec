/**
 * Log lines and, if OTLP_URL is set, the same lines and sampled traces at the collector. Requests that are not sampled
 * are not traced.
 */
import { Console, Context, Effect, Layer, Logger, Redacted, References } from "effect"
import * as NodeEntropy from "../../adapters/crypto/NodeEntropy.ts"
import { API_VERSION } from "../../adapters/http/contract/BaseUrl.ts"
import * as OtlpExport from "../../adapters/telemetry/OtlpExport.ts"
import { samplerOf } from "../../adapters/telemetry/OtlpExport.ts"
import { Entropy } from "../../domain/shared/Cryptography.ts"
import { makeExportTally, ProcessTelemetry } from "../../domain/shared/Telemetry.ts"
import { type AppConfig, valueOf } from "../config/AppConfig.ts"
import { headersOf } from "../config/SettingValues.ts"
import { level, lines } from "./Process.ts"

// The service's stdout and stderr. A reader that is slow, blocked or gone costs lines, never the service: beyond a bounded
// buffer lines are dropped and counted. Pipes buffer in memory without a limit otherwise, and a closed one raises EPIPE.
// Files and terminals are written synchronously; their writes end or fail at once.

export const BUFFERED_BYTES_MAX = 1_048_576

/** The part of `process.stdout` that the output needs. */
interface LogStream {
  /** Bytes that the reader has not taken yet. */
  readonly writableLength: number
  on(event: "error", handle: (error: Error) => void): unknown
}

type Print = (...parts: ReadonlyArray<unknown>) => void

/** Prints while the stream takes it. After a gap the first line says how many are missing. */
export const bounded = (stream: LogStream, loss = { dropped: 0 }): ((print: Print) => Print) => {
  let dropped = 0
  let isClosed = false
  stream.on("error", () => {
    isClosed = true
  })
  return (print) =>
    (...parts) => {
      if (isClosed || stream.writableLength > BUFFERED_BYTES_MAX) {
        dropped++
        loss.dropped++
        return
      }
      if (dropped > 0) {
        print(`${dropped} log lines were dropped, because the reader of the log was too slow.`)
        dropped = 0
      }
      print(...parts)
    }
}

const make = (loss: ProcessTelemetry["lines"]): Console.Console => {
  const { console, process } = globalThis
  const [out, err] = [bounded(process.stdout, loss), bounded(process.stderr, loss)]
  // The other methods are those of the process.
  return Object.assign(Object.create(console) as Console.Console, {
    log: out(console.log),
    info: out(console.info),
    debug: out(console.debug),
    error: err(console.error),
    warn: err(console.warn)
  })
}

/** `accessRatio`: the share of requests that are logged. */
export const logOutput = (accessRatio: number) =>
  Layer.effectContext(
    Effect.map(samplerOf({ ratio: accessRatio }), (accessLog) => {
      const lines = { dropped: 0 }
      return Context.make(Console.Console, make(lines)).pipe(
        Context.add(ProcessTelemetry, { exports: makeExportTally(), lines, accessLog })
      )
    })
  )

/** The service has its log on stdout, and at a collector if there is one. */
export const telemetry = (config: AppConfig) =>
  (config.OTLP_URL === undefined ? Logger.layer([lines(config)]) : exported(config, config.OTLP_URL)).pipe(
    Layer.provideMerge([
      level(config),
      logOutput(valueOf(config, "ACCESS_LOG_RATIO")),
      Layer.succeed(References.TracerEnabled, false)
    ])
  )

const exported = (config: AppConfig, url: Redacted.Redacted) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const entropy = yield* Entropy
      return OtlpExport.layer(
        {
          url,
          headers: Redacted.make(
            config.OTLP_HEADERS === undefined ? {} : headersOf(Redacted.value(config.OTLP_HEADERS))
          ),
          serviceName: "agent-tool-billing",
          version: API_VERSION,
          instanceId: yield* entropy.uuid,
          sampling: { ratio: valueOf(config, "OTLP_TRACES_RATIO") }
        },
        [lines(config)]
      )
    })
  ).pipe(Layer.provide(NodeEntropy.layer))
