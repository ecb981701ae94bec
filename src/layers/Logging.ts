/**
 * Log output, with the configured format and level.
 */
import { Layer, Logger, References } from "effect"
import { fewOfAKind } from "../../adapters/telemetry/FewOfAKind.ts"
import { type AppConfig, valueOf } from "../config/AppConfig.ts"

export const lines = (config: AppConfig) =>
  fewOfAKind(valueOf(config, "LOG_FORMAT") === "json" ? Logger.consoleJson : Logger.consolePretty())

export const level = (config: AppConfig) => Layer.succeed(References.MinimumLogLevel, valueOf(config, "LOG_LEVEL"))

/** For commands other than `serve`. */
export const logging = (config: AppConfig) => Layer.merge(Logger.layer([lines(config)]), level(config))
