/**
 * A core on its own has the defaults of a service without settings that takes payments.
 */
import { assert, it } from "@effect/vitest"
import { Duration, Effect, Result } from "effect"
import { RateLimitPolicy } from "../../domain/accounts/Authentication.ts"
import { CatalogPolicy } from "../../domain/catalog/Terms.ts"
import { CurrentEarningsPolicy } from "../../domain/earnings/EarningStates.ts"
import { DefaultFeeBasisPoints } from "../../domain/ledger/PlatformFee.ts"
import { ToolboxToolsMax } from "../../domain/mcp/Toolbox.ts"
import { TOOL_TIMEOUT_MS_MAX, UPSTREAM_LIMITS, UpstreamLimits } from "../../domain/metering/CallTerms.ts"
import { readConfig } from "../../src/config/AppConfig.ts"
import { settings } from "../../src/config/Settings.ts"
import { earningsPolicy } from "../../src/layers/Service.ts"

it.effect("a core has the defaults of the settings", () =>
  Effect.gen(function* () {
    const limits = yield* UpstreamLimits
    const catalog = yield* CatalogPolicy
    const earnings = yield* CurrentEarningsPolicy
    const rates = yield* RateLimitPolicy
    const defaults = {
      UPSTREAM_TIMEOUT_MS: limits.timeoutMs,
      UPSTREAM_RETRIES: limits.retriesMax,
      UPSTREAM_PROGRESS_MS_MAX: limits.progressMsMax,
      CALLS_IN_FLIGHT_MAX: limits.inFlightMax,
      DEFAULT_FREE_TIER_CALLS: catalog.freeTierCalls,
      TOOL_GRACE_HOURS: Duration.toHours(catalog.withdrawalGrace),
      ENDPOINT_PROBE_MS: Duration.toMillis(catalog.probeTimeout),
      REFUND_LOSS_LIMIT_CENTS: earnings.refundLossLimitCents,
      CHARGEBACK_LIABILITY: earnings.chargebackLiability,
      PLATFORM_FEE_BASIS_POINTS: yield* DefaultFeeBasisPoints,
      TOOLBOX_TOOLS_MAX: yield* ToolboxToolsMax,
      RATE_LIMIT_RPM: rates.defaultRpm,
      RATE_LIMIT_RPM_MAX: rates.ceilingRpm
    } as const
    for (const [name, value] of Object.entries(defaults)) {
      assert.strictEqual(String(value), settings[name as keyof typeof defaults].fallback, name)
    }
    // Their defaults depend on the payments.
    const stated = {
      PRICE_NOTICE_HOURS: Duration.toHours(catalog.priceNotice),
      PAYOUT_DELAY_DAYS: earnings.delayDays,
      PAYOUT_DELAY_DAYS_NEW: earnings.newProviderDelayDays,
      RESERVE_PERCENT: earnings.reservePercent,
      RESERVE_DAYS: earnings.reserveDays
    } as const
    for (const [name, value] of Object.entries(stated)) {
      assert.include(settings[name as keyof typeof stated].meaning, `Default: ${value}, or 0 `, name)
    }
    const payments = { PAYMENTS: "stripe", STRIPE_SECRET_KEY: "sk_test_1", STRIPE_WEBHOOK_SECRET: "whsec_1" }
    assert.deepStrictEqual(earnings, earningsPolicy(Result.getOrThrow(readConfig([payments]))))
  })
)

it.effect("all attempts of a call have more time than any one may take, in a core and in a service", () =>
  Effect.gen(function* () {
    const { totalMs } = yield* UpstreamLimits
    assert.isAbove(totalMs, TOOL_TIMEOUT_MS_MAX)
    assert.strictEqual(totalMs, UPSTREAM_LIMITS.totalMs)
  })
)
