/**
 * The solvency of the ledger for Prometheus, from the last check of this node.
 */
import type { SolvencyReading } from "../../../domain/ledger/SolvencyWatch.ts"
import { gaugesOf, type Metric } from "./Prometheus.ts"

export const solvencyMetrics = (last: SolvencyReading | undefined): ReadonlyArray<Metric> => {
  const gauge = gaugesOf(last)
  return [
    gauge(
      "atb_unbacked_microcents",
      "Funds that can be spent or withdrawn without having been received. Any value but 0 is a fault.",
      (reading) => reading.unbackedMicrocents
    ),
    gauge(
      "atb_shortfall_microcents",
      "Recorded losses that the operator has not covered.",
      (reading) => reading.shortfallMicrocents
    ),
    gauge(
      "atb_platform_funds_microcents",
      "Fees that were not withdrawn, and deposits.",
      (reading) => reading.platformFundsMicrocents
    ),
    gauge(
      "atb_claims_on_providers_microcents",
      "Debt of providers to consumers for refunds.",
      (reading) => reading.claims.byProvidersMicrocents
    ),
    gauge(
      "atb_advanced_microcents",
      "Advances of the platform for refunds that were not repaid.",
      (reading) => reading.claims.advancedMicrocents
    )
  ]
}
