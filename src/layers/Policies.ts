/**
 * What the configuration permits: addresses that the service calls, readers of the metrics, and how provider money is protected.
 */
import { Result } from "effect"
import type { MetricsAccess } from "../../adapters/http/platform/Metrics.ts"
import { parsePolicy, publicAndLoopback, publicOnly } from "../../adapters/mcp/egress/AddressGuard.ts"
import {
  DRY_RUN_EARNINGS_POLICY,
  type EarningsPolicy,
  LIVE_EARNINGS_POLICY
} from "../../domain/earnings/EarningStates.ts"
import { type AppConfig, valueOf } from "../config/AppConfig.ts"

/** Addresses that the service may connect to for a user. Development profiles include loopback. */
export const upstreamPolicy = (config: AppConfig) => {
  if (config.ALLOW_UPSTREAM === undefined) return config.profile === "production" ? publicOnly : publicAndLoopback
  return Result.getOrThrow(parsePolicy(config.ALLOW_UPSTREAM))
}

/** Clients with the token may read /metrics; without a token all clients, except in production. */
export const metricsAccess = (config: Pick<AppConfig, "profile" | "METRICS_TOKEN">): MetricsAccess =>
  config.METRICS_TOKEN ?? (config.profile === "production" ? "closed" : "open")

/** Strict with real payments, off in a dry run. */
export const earningsPolicy = (config: AppConfig): EarningsPolicy => {
  const preset = config.PAYMENTS === "stripe" ? LIVE_EARNINGS_POLICY : DRY_RUN_EARNINGS_POLICY
  return {
    delayDays: config.PAYOUT_DELAY_DAYS ?? preset.delayDays,
    newProviderDelayDays: config.PAYOUT_DELAY_DAYS_NEW ?? preset.newProviderDelayDays,
    newProviderDays: LIVE_EARNINGS_POLICY.newProviderDays,
    reservePercent: config.RESERVE_PERCENT ?? preset.reservePercent,
    reserveDays: config.RESERVE_DAYS ?? preset.reserveDays,
    refundLossLimitCents: valueOf(config, "REFUND_LOSS_LIMIT_CENTS"),
    chargebackLiability: valueOf(config, "CHARGEBACK_LIABILITY")
  }
}
