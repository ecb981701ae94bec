/**
 * The clock of a process. With a database, it is corrected to the database's clock once that has been read.
 */
import { Clock, Context, Layer } from "effect"
import { CorrectedClock, makeCorrectedClock } from "../../domain/shared/CorrectedClock.ts"
import type { AppConfig } from "../config/AppConfig.ts"

export const nodeClock = (config: AppConfig) => (config.profile === "memory" ? Layer.empty : corrected)

const corrected = Layer.syncContext(() => {
  const own = makeCorrectedClock(Clock.Clock.defaultValue())
  return Context.make(Clock.Clock, own.clock).pipe(Context.add(CorrectedClock, own))
})
