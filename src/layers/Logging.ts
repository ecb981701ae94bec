/**
 * Lines on the process's output, in the form and from the level that the configuration asks for.
 */
import { Layer, Logger, References } from "effect"
import { fewOfAKind } from "../../adapters/telemetry/FewOfAKind.ts"
import { type AppConfig, valueOf } from "../config/AppConfig.ts"

export const lines = (config: AppConfig) =>
  fewOfAKind(valueOf(config, "LOG_FORMAT") === "json" ? Logger.consoleJson : Logger.consolePretty())

export const level = (config: AppConfig) => Layer.succeed(References.MinimumLogLevel, valueOf(config, "LOG_LEVEL"))

/** For commands that end by themselves. */
export const logging = (config: AppConfig) => Layer.merge(Logger.layer([lines(config)]), level(config))
