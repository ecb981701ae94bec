/**
 * Service levels of providers and tools on the wire.
 */
import { VerificationLevel } from "../../../domain/trust/TrustScore.ts"
import * as Field from "./Field.ts"
import * as shared from "./SharedFields.ts"

const UPTIME = "Success rate in percent, without calls with rejected input up to 5% of all calls. `null`: no calls."
const REJECTED = "Number of calls whose input the provider rejected (JSON-RPC -32602)."

export const verificationLevel = Field.of(VerificationLevel, "Highest verification level of the provider.")
export const verifiedAt = Field.nullableTimestamp(
  "Time since when the verification level holds. `null`: unverified.",
  "2026-11-02T10:00:00.000Z"
)
const latency = (which: string, example: number) =>
  Field.nullableNumber(`${which} latency in milliseconds. \`null\`: no calls.`, example)

const byDay = Field.list(
  Field.object("SlaDay", "One day (UTC).", {
    date: shared.date,
    calls: Field.int("Number of calls.", 40),
    successful: Field.int("Number of successful calls.", 40),
    errors: Field.int("Number of failed calls.", 0),
    timeouts: Field.int("Number of calls that timed out.", 0),
    input_rejected: Field.int(REJECTED, 0),
    uptime: Field.nullableNumber(UPTIME, 100),
    p95_latency_ms: latency("p95", 210)
  }),
  "Days of the period, oldest first."
)

const period = Field.always("30d")
const measured = {
  period_end: Field.timestamp("End of the period: now."),
  uptime_30d: Field.nullableNumber(UPTIME, 99.41),
  avg_latency_ms: latency("Average", 91),
  p50_latency_ms: latency("p50", 80),
  p95_latency_ms: latency("p95", 210),
  p99_latency_ms: latency("p99", 480),
  error_rate_30d: Field.nullableNumber(
    "Error rate from 0 to 1, over the calls of `uptime_30d`. `null`: no calls.",
    0.0059
  ),
  total_calls_30d: Field.int("Number of calls through the proxy.", 1_204),
  successful_calls_30d: Field.int("Number of successful calls.", 1_197),
  error_calls_30d: Field.int("Number of failed calls, without timeouts and rejected input.", 5),
  timeout_calls_30d: Field.int("Number of calls that timed out.", 2),
  input_rejected_calls_30d: Field.int(REJECTED, 0),
  input_rejected_rate_30d: Field.nullableNumber(
    "Share of calls with rejected input, from 0 to 1. `null`: no calls.",
    0
  ),
  receipts_issued: Field.int("Number of receipts; equals the number of calls.", 1_204)
}

export const ToolSla = Field.object("ToolSla", "Service level of a tool over 30 days.", {
  tool_id: shared.toolId,
  tool_name: shared.toolName,
  provider_id: shared.providerId,
  period,
  period_start: Field.timestamp("Start of the period: the start of a day (UTC).", "2026-10-22T00:00:00.000Z"),
  ...measured,
  by_day: byDay
})

export const ProviderSla = Field.object("ProviderSla", "Service level of a provider over 30 days.", {
  provider_id: shared.providerId,
  provider_name: shared.providerName,
  period,
  period_start: Field.timestamp("Start of the period: a full hour.", "2026-10-21T09:00:00.000Z"),
  ...measured,
  disputes: Field.int("Number of disputes against the provider.", 1),
  verification_level: verificationLevel,
  verified_at: verifiedAt,
  by_day: byDay
})
