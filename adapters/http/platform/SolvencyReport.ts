/**
 * The solvency report as the operator sees it.
 */
import { DateTime, Effect } from "effect"
import { Claims } from "../../../domain/earnings/Claims.ts"
import { PlatformFunds } from "../../../domain/ledger/PlatformFunds.ts"
import { format } from "../../../domain/shared/Time.ts"

export const solvencyReport = Effect.map(
  Effect.all([PlatformFunds, Claims]),
  ([funds, claims]) =>
    () =>
      reportOf(funds, claims)
)

const reportOf = Effect.fnUntraced(function* (funds: PlatformFunds["Service"], claims: Claims["Service"]) {
  const found = yield* funds.solvency
  const owed = yield* claims.totals
  return {
    spendable_microcents: Number(found.spendableMicrocents),
    received_microcents: Number(found.receivedMicrocents),
    sent_microcents: Number(found.sentMicrocents),
    recorded_losses_microcents: Number(found.recordedLossesMicrocents),
    shortfall_microcents: Number(found.shortfallMicrocents),
    unbacked_microcents: Number(found.unbackedMicrocents),
    platform_funds_microcents: Number(found.platformFundsMicrocents),
    claims_on_providers_microcents: Number(owed.byProvidersMicrocents),
    claims_on_platform_microcents: Number(owed.byPlatformMicrocents),
    advanced_microcents: Number(owed.advancedMicrocents),
    timestamp: format(yield* DateTime.now)
  }
})
