/**
 * Every process has log output with the configured format and level, a clock, and an end when a part fails.
 */
import { Clock, Context, Deferred, Effect, Layer, Logger, References } from "effect"
import { throttled } from "../../adapters/telemetry/LogThrottle.ts"
import { CorrectedClock, makeCorrectedClock } from "../../domain/shared/Time.ts"
import { type AppConfig, valueOf } from "../config/AppConfig.ts"

export const lines = (config: AppConfig) =>
  throttled(valueOf(config, "LOG_FORMAT") === "json" ? Logger.consoleJson : Logger.consolePretty())

export const level = (config: AppConfig) => Layer.succeed(References.MinimumLogLevel, valueOf(config, "LOG_LEVEL"))

/** `serve` has `telemetry` instead. */
export const logging = (config: AppConfig) => Layer.merge(Logger.layer([lines(config)]), level(config))

/** The clock is corrected to that of the database, if there is one, as soon as it has been read. */
export const nodeClock = (config: AppConfig) => (config.profile === "memory" ? Layer.empty : corrected)

const corrected = Layer.syncContext(() => {
  const own = makeCorrectedClock(Clock.Clock.defaultValue())
  return Context.make(Clock.Clock, own.clock).pipe(Context.add(CorrectedClock, own))
})

/** Ends the process when a part fails that the service cannot work without. */
export class Fatal extends Context.Service<Fatal, Deferred.Deferred<never, { readonly message: string }>>()(
  "agent-tool-billing/src/Fatal"
) {
  static readonly layer = Layer.effect(Fatal, Deferred.make<never, { readonly message: string }>())
}

/** While the layer lives, the first failure of `part` ends the process. */
export const watch = (part: Effect.Effect<never, { readonly message: string }>) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const fatal = yield* Fatal
      yield* part.pipe(
        Effect.catch((error) => Deferred.fail(fatal, error)),
        Effect.forkScoped
      )
    })
  )
