/**
 * What this node knows of the read replica: the stores find it out, and health and metrics show it.
 */
import { Clock, Effect, Layer } from "effect"
import { makeReadReplica, ReadReplica } from "../../domain/platform/Health.ts"
import { monotonicMs } from "../../domain/shared/Time.ts"
import { type AppConfig, valueOf } from "../config/AppConfig.ts"

export const readReplica = (config: AppConfig) =>
  Layer.effect(
    ReadReplica,
    Effect.map(Clock.Clock, (clock) =>
      config.DATABASE_READ_URL === undefined
        ? undefined
        : makeReadReplica(valueOf(config, "DATABASE_READ_LAG_MS_MAX"), () => monotonicMs(clock))
    )
  )
