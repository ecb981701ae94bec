/**
 * Usage on the wire: calls, totals by tool and day, and free tiers.
 */
import { Schema } from "effect"
import { ReceiptStatus } from "../../../domain/receipts/Receipt.ts"
import { ReceiptId, ToolId } from "../../../domain/shared/Ids.ts"
import * as Field from "../contract/Field.ts"
import { pageQueryUpTo } from "../contract/InputSchemas.ts"
import { freeTierCalls } from "../catalog/PriceFields.ts"
import { CONSUMER_ID, RECEIPT_ID } from "../contract/SampleValues.ts"
import * as shared from "../contract/SharedFields.ts"

const USAGE_LIMIT_MAX = 200

const Period = Schema.Literals(["24h", "7d", "30d", "90d"])
export const periodQuery = Field.optional(Period, "Period up to now, starting at a full hour. Default: `30d`.")
const period = Field.of(Period, "Period up to now, starting at a full hour.", "30d")

export const usageQuery = {
  period: periodQuery,
  tool_id: Field.optional(ToolId, "ID of the tool."),
  status: Field.optional(ReceiptStatus, "Outcome of the calls."),
  ...pageQueryUpTo(USAGE_LIMIT_MAX)
}

const owner = Field.of(
  Schema.Struct({
    id: Field.string("ID of the account.", CONSUMER_ID),
    type: Field.of(Schema.Literals(["consumer", "provider"]), "Role of the account.", "consumer"),
    name: Field.string("Name of the account.", "Research agent"),
    balance_cents: Field.cents("Balance", 499)
  }),
  "The account."
)

const UsageCall = Field.object("UsageCall", "A metered call.", {
  id: Field.of(ReceiptId, "ID of the receipt.", RECEIPT_ID),
  receipt_id: shared.receiptId,
  tool: shared.displayName,
  tool_name: shared.toolName,
  tool_id: shared.toolId,
  status: shared.receiptStatus,
  success: Field.boolean("Whether `status` is `success`."),
  cost_cents: shared.costCents,
  cost_microcents: shared.costMicrocents,
  latency_ms: shared.latencyMs,
  duration_ms: shared.durationMs,
  created_at: shared.createdAt
})

const totalCalls = Field.int("Number of calls.", 1_204)
const outcomes = {
  total_calls: totalCalls,
  successful_calls: Field.int("Number of successful calls.", 1_197),
  error_rate: Field.of(Schema.Finite, "Error rate: the share of calls that failed, from 0 to 1.", 0.0059)
}
const spendCents = Field.cents("Amount spent", 60)
const spendMicrocents = Field.microcents("Amount spent", 602_000)
const totalSpendCents = Field.cents("Total spend", 921)
const totalSpend = Field.dollars("Total spend", "$9.21")

export const UsagePage = Field.object("UsagePage", "A page of calls, with the totals of the period.", {
  owner,
  period,
  summary: Field.of(
    Schema.Struct({
      ...outcomes,
      total_cost_cents: Field.cents("Total cost", 921),
      total_cost_microcents: Field.microcents("Total cost", 9_210_000),
      total_cost: Field.dollars("Total cost", "$9.21"),
      avg_latency_ms: Field.nullableNumber("Average latency in milliseconds. `null`: no calls.", 86)
    }),
    "Totals of the period."
  ),
  recent_calls: Field.list(UsageCall, "Calls of this page, newest first."),
  records: Field.list(UsageCall, "Same as `recent_calls`."),
  ...shared.pageFields
})

export const UsageSummary = Field.object("UsageSummary", "Usage by tool and day.", {
  owner,
  period,
  summary: Field.of(
    Schema.Struct({
      ...outcomes,
      total_spend_cents: totalSpendCents,
      total_spend_microcents: Field.microcents("Total spend", 9_210_000),
      total_spend: totalSpend,
      data_volume: Field.of(
        Schema.Struct({
          request_bytes: Field.int("Bytes sent to providers.", 2_410_332),
          response_bytes: Field.int("Bytes received from providers.", 19_220_871),
          tokens_input: Field.int("Reported input tokens.", 0),
          tokens_output: Field.int("Reported output tokens.", 0)
        }),
        "Data volume of the calls."
      )
    }),
    "Totals of the period."
  ),
  total_calls: totalCalls,
  total_spend_cents: totalSpendCents,
  total_spend: totalSpend,
  top_tools: Field.list(
    Schema.Struct({
      tool: shared.displayName,
      tool_name: shared.toolName,
      tool_id: shared.toolId,
      calls: totalCalls,
      spend_cents: spendCents,
      spend_microcents: spendMicrocents,
      spend: Field.dollars("Amount spent", "$0.60")
    }),
    "The ten tools with the highest spend."
  ),
  calls_by_tool: Field.of(Schema.Record(Schema.String, Schema.Int), "Number of calls by tool name.", {
    search: 1_204
  }),
  calls_by_day: Field.list(
    Schema.Struct({
      date: shared.date,
      calls: totalCalls,
      spend_cents: spendCents,
      spend_microcents: spendMicrocents,
      errors: Field.int("Number of failed calls.", 7)
    }),
    "Calls by day, including days without calls."
  )
})

const FreeTier = Field.object("FreeTier", "The free tier of a tool.", {
  tool_id: shared.toolId,
  tool_name: shared.toolName,
  provider_id: shared.providerId,
  provider: shared.providerName,
  free_tier_calls: freeTierCalls,
  used: Field.int("Free calls used this month.", 4),
  left: Field.int("Free calls left this month.", 6)
})

export const FreeTierList = Field.object("FreeTiers", "Your free calls of the current month, by tool.", {
  free_tiers: Field.list(FreeTier, "Tools with free calls used this month, most used first; at most 100."),
  total: Field.int("Number of tools in the list.", 1),
  resets_at: Field.timestamp("Time when all free tiers reset.", "2026-12-01T00:00:00.000Z")
})
