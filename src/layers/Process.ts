/**
 * What every process has: log output with the configured format and level, and a clock.
 */
import { Clock, Context, Layer, Logger, References } from "effect"
import { throttled } from "../../adapters/telemetry/LogThrottle.ts"
import { CorrectedClock, makeCorrectedClock } from "../../domain/shared/Time.ts"
import { type AppConfig, valueOf } from "../config/AppConfig.ts"

export const lines = (config: AppConfig) =>
  throttled(valueOf(config, "LOG_FORMAT") === "json" ? Logger.consoleJson : Logger.consolePretty())

export const level = (config: AppConfig) => Layer.succeed(References.MinimumLogLevel, valueOf(config, "LOG_LEVEL"))

/** For commands other than `serve`. */
export const logging = (config: AppConfig) => Layer.merge(Logger.layer([lines(config)]), level(config))

/** With a database, the clock is corrected to the database's once that has been read. */
export const nodeClock = (config: AppConfig) => (config.profile === "memory" ? Layer.empty : corrected)

const corrected = Layer.syncContext(() => {
  const own = makeCorrectedClock(Clock.Clock.defaultValue())
  return Context.make(Clock.Clock, own.clock).pipe(Context.add(CorrectedClock, own))
})
