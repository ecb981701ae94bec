/**
 * `lost-calls`: lists calls that were forwarded and that the database lost. `--reviewed` marks them as reviewed, which
 * ends the alert.
 */
import { Console, Effect } from "effect"
import { lostCalls, type LostCall, reviewLost } from "../adapters/sql/metering/LostCalls.ts"
import { storeSql } from "../adapters/sql/shared/StoreSql.ts"
import type { AppConfig } from "./config/AppConfig.ts"
import { database } from "./layers/Database.ts"

const LISTED_MAX = 100_000

export const listLostCalls = (config: AppConfig, isReviewed: boolean) =>
  config.profile === "memory"
    ? Console.log("The memory profile has no database.")
    : Effect.gen(function* () {
        const sql = yield* storeSql
        for (const call of yield* lostCalls(sql, LISTED_MAX)) yield* Console.log(lineOf(call))
        if (isReviewed) yield* Console.log(`${yield* reviewLost(sql)} calls were marked as reviewed.`)
      }).pipe(Effect.provide(database(config)))

/** One JSON object a line. */
const lineOf = ({ costMicrocents, isAcknowledged, isRepeated, ...call }: LostCall): string =>
  JSON.stringify({
    receipt_id: call.receiptId,
    consumer_id: call.consumerId,
    provider_id: call.providerId,
    tool_name: call.toolName,
    cost_microcents: Number(costMicrocents),
    called_at: call.calledAt.toISOString(),
    found_at: call.foundAt.toISOString(),
    acknowledged: isAcknowledged,
    forwarded_twice: isRepeated,
    reviewed_at: call.reviewedAt?.toISOString() ?? null
  })
