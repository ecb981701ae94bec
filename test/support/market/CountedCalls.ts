/**
 * Counts the closed calls that still wait for it, as the job `usage` does: their earnings enter the kept balances.
 */
import { Effect } from "effect"
import * as PostgresUsageStore from "../../../adapters/sql/metering/PostgresUsageStore.ts"
import { UsageStore } from "../../../domain/metering/Usage.ts"

export const countCalls = Effect.flatMap(UsageStore, (usage) => usage.countWaiting).pipe(
  Effect.provide(PostgresUsageStore.layer)
)
