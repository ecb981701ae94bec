/**
 * Log lines and, if OTLP_URL is set, the same lines and sampled traces at the collector. Requests that are not sampled
 * are not traced.
 */
import { Effect, Layer, Logger, Redacted, References } from "effect"
import * as NodeEntropy from "../../adapters/crypto/NodeEntropy.ts"
import { API_VERSION } from "../../adapters/http/contract/BaseUrl.ts"
import { AccessSampler } from "../../adapters/http/pipeline/RequestTelemetry.ts"
import { samplerOf } from "../../adapters/telemetry/BoundedSampler.ts"
import * as OtlpExport from "../../adapters/telemetry/OtlpExport.ts"
import { makeTelemetryTally, TelemetryTally } from "../../domain/platform/TelemetryTally.ts"
import { Entropy } from "../../domain/shared/Cryptography.ts"
import { type AppConfig, valueOf } from "../config/AppConfig.ts"
import { headersOf } from "../config/SettingValues.ts"
import * as LogOutput from "./LogOutput.ts"
import { level, lines } from "./Process.ts"

/** For the service. */
export const telemetry = (config: AppConfig) =>
  (config.OTLP_URL === undefined ? Logger.layer([lines(config)]) : exported(config, config.OTLP_URL)).pipe(
    Layer.provideMerge([
      level(config),
      LogOutput.layer,
      Layer.effect(AccessSampler, samplerOf({ ratio: valueOf(config, "ACCESS_LOG_RATIO") })),
      Layer.sync(TelemetryTally, makeTelemetryTally),
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
