/**
 * Calls through the proxy, and their usage.
 */
import { Schema } from "effect"
import { HttpApiGroup } from "effect/http-api"
import { ToolNameSent } from "../../../domain/catalog/Tool.ts"
import { ReceiptStatus } from "../../../domain/receipts/Receipts.ts"
import { ProviderId, ReceiptId, ToolId, uuid } from "../../../domain/shared/Ids.ts"
import { MicrocentsFromInt } from "../../../domain/shared/Microcents.ts"
import * as price from "../catalog/ToolBody.ts"
import { freeTierCalls } from "../catalog/ToolBody.ts"
import * as Endpoint from "../contract/Endpoint.ts"
import { callBy, readBy } from "../contract/Endpoint.ts"
import * as Field from "../contract/Field.ts"
import { idempotencyHeader, pageQueryUpTo } from "../contract/InputSchemas.ts"
import { CONSUMER_ID, DEMO_INPUT, DEMO_TOOL, RECEIPT_ID } from "../contract/SampleValues.ts"
import * as shared from "../contract/SharedFields.ts"

// Usage on the wire: calls, totals by tool and day, and free tiers.

const USAGE_LIMIT_MAX = 200

const Period = Schema.Literals(["24h", "7d", "30d", "90d"])
export const periodQuery = Field.optional(Period, "Period up to now, starting at a full hour. Default: `30d`.")
const period = Field.of(Period, "Period up to now, starting at a full hour.", "30d")

const usageQuery = {
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

const UsagePage = Field.object("UsagePage", "A page of calls, with the totals of the period.", {
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

const JsonObject = Schema.Record(Schema.String, Schema.Json)

/** A name under the id's field is a mistake that the message has to name. */
const ToolIdSent = Schema.String.check(
  Schema.isPattern(uuid, { message: "must be a UUID in lower case (the name of a tool is sent as `tool_name`)" })
).pipe(Schema.brand("ToolId"))

const ProxyCall = Field.object("ProxyCall", "The tool, its arguments, and the cap.", {
  tool_id: Field.optional(ToolIdSent, "ID of the tool. Takes precedence over `tool_name`."),
  tool_name: Field.optional(
    ToolNameSent,
    "Qualified name of the tool (`handle/tool_name`), or its bare name. The first successful call of a bare name pins it " +
      "for your account: later calls go to the same tool, or are answered 410 once it is withdrawn. A bare name without a " +
      "pin resolves to the only listed tool of that name; if there are several, the call is answered 409."
  ),
  input: Field.optional(JsonObject, "Arguments of the tool."),
  arguments: Field.optional(JsonObject, "Same as `input`, under its MCP name."),
  provider_id: Field.optional(
    ProviderId,
    "ID of the provider whose tool the bare name refers to. No pin is used or created."
  ),
  max_cost_microcents: Field.optional(
    MicrocentsFromInt,
    "Cap: maximum cost of this call in microcents (1/10,000 of a cent). A usage-priced call needs it, or a default cap. " +
      "A cap below the list price is answered 409."
  ),
  price_version: Field.optional(
    Schema.Int.check(Schema.isGreaterThanOrEqualTo(1)),
    "Price version of your quote. The call is answered 409 if another version is in effect."
  ),
  dry_run: Field.optional(Schema.Boolean, "If `true`, returns a quote and does not call the tool."),
  metadata: Field.optional(JsonObject, "Data of your own to store with the call.")
})
  .check(
    Schema.makeFilter((body) => {
      if (body.tool_id === undefined && body.tool_name === undefined) return "Send `tool_id` or `tool_name`."
      return body.input !== undefined && body.arguments !== undefined
        ? "Send the input once: either `input` or `arguments`."
        : undefined
    })
  )
  .annotate({
    identifier: "ProxyCall",
    examples: [{ tool_name: DEMO_TOOL, input: DEMO_INPUT }]
  })

const capHeader = {
  "x-max-cost-microcents": Field.optional(
    Schema.String.check(Schema.isPattern(/^\d{1,16}$/u)),
    "Cap of this call in microcents. Of this and `max_cost_microcents` in the body, the lower one applies."
  )
}

const tool = { tool: shared.displayName, tool_name: shared.toolName }
const provider = { provider: shared.providerName, provider_id: shared.providerId }
const freeTierRemaining = Field.nullableInt("Free calls left this month. `null`: the tool has no free tier.", 0)

const CallMeta = Field.object("CallMeta", "Tool, cost, outcome and receipt of the call.", {
  ...tool,
  tool_id: shared.toolId,
  ...provider,
  cost_cents: shared.costCents,
  cost_microcents: shared.costMicrocents,
  cost: Field.dollars("Cost of the call", "$0.0005"),
  latency_ms: shared.latencyMs,
  remaining_balance_cents: Field.cents("Balance after the call", 499),
  remaining_balance_microcents: Field.microcents("Balance after the call", 4_999_500),
  free_tier_remaining: freeTierRemaining,
  receipt_id: shared.receiptId,
  invocation_id: shared.invocationId,
  attempts: Field.int("Number of attempts to reach the provider.", 1),
  outcome: Field.of(
    Schema.Literals(["success", "error"]),
    "`error`: the tool returned a result with `isError`.",
    "success"
  )
})

const CallResult = Field.object("CallResult", "The result of the tool, and the cost of the call.", {
  result: Field.of(JsonObject, "Result of the tool, unchanged.", {
    content: [{ type: "text", text: "3 papers found" }]
  }),
  meta: Field.of(CallMeta, "Tool, cost, outcome and receipt of the call.")
})

const quote = Schema.Struct({
  ...tool,
  qualified_name: shared.qualifiedName,
  tool_id: shared.toolId,
  ...provider,
  price_microcents: price.priceMicrocents,
  price_cents: price.priceCents,
  price: price.priceShown,
  max_cost_microcents: price.maxCostMicrocents,
  usage_priced: price.usagePriced,
  price_version: Field.int("Number of the price version. Send it with the call to have any other version rejected.", 3),
  billing_policy: price.billingPolicy,
  on_cancel: price.onCancel,
  canceled_call_costs: price.canceledCallCosts,
  free_tier_calls: price.freeTierCalls,
  upcoming: price.upcoming,
  cost_microcents: Field.microcents("Cost of the call (list price, or 0 within the free tier)", 500),
  hold_microcents: Field.microcents("Amount that the call would hold", 500),
  free_tier_remaining: freeTierRemaining,
  balance_microcents: Field.microcents("Available balance", 5_000_000),
  balance_after_microcents: Field.signedMicrocents("Available balance after the call", 4_999_500),
  sufficient_funds: Field.boolean("Whether the available balance covers the hold.")
})

const Quote = Field.object("Quote", "A quote for the call. The tool was not called.", {
  dry_run: Field.always(true),
  quote: Field.of(quote, "Price and hold of the call.")
})

const usage = <const I extends string, const P extends `/${string}`>(identifier: I, path: P) =>
  Endpoint.get(identifier, path, {
    access: readBy("consumer", "provider"),
    summary: "List your calls",
    description:
      "Returns your calls, newest first, and totals of the period. With a provider key: the calls of your tools.",
    query: usageQuery,
    success: UsagePage
  })

const usageSummary = <const I extends string, const P extends `/${string}`>(identifier: I, path: P) =>
  Endpoint.get(identifier, path, {
    access: readBy("consumer", "provider"),
    summary: "Summarize your usage",
    description: "Returns totals of the period by tool and day. With a provider key: of the calls of your tools.",
    query: { period: periodQuery },
    success: UsageSummary
  })

export class CallsApi extends HttpApiGroup.make("calls")
  .add(
    Endpoint.post("proxy", "/api/market/proxy", {
      access: callBy("consumer"),
      summary: "Call a tool",
      description:
        "Holds the price, forwards the call, settles it, and returns the tool's result with a receipt. Only a successful " +
        "call is billed, unless the tool's `billing_policy` says otherwise. `dry_run: true` returns a quote.\n\n" +
        "An error of the tool itself (a result with `isError`) is answered 200, with `meta.outcome: " +
        '"error"`. A provider that fails is answered 502 `PROVIDER_ERROR`, a provider that times out 504.\n\n' +
        "A usage-priced call (its maximum is above its price) needs a cap: `max_cost_microcents` in the body or the " +
        "header `X-Max-Cost-Microcents` (the lower one applies), else `default_cap_microcents` of the key, else of the account. Without one it is " +
        "answered 422 `CAP_REQUIRED`. The hold never exceeds the cap, and the provider receives the cap. Send the " +
        "`price_version` of a quote to have the call rejected if another version is in effect.\n\n" +
        "A forwarded call completes even if you disconnect, and is billed by its outcome, unless the tool's `on_cancel` " +
        "says otherwise. With an `Idempotency-Key`, the response is then stored for 10 minutes; a later retry is answered " +
        "410 with receipt, outcome and cost. The number of calls in flight per account is limited, including calls that " +
        "you disconnected from.\n\n" +
        "With `Accept: text/event-stream`, the response of a tool that reports progress is a stream: `progress` events, " +
        "then `result` or `problem` with the body of the usual response.",
      headers: { ...idempotencyHeader, ...capHeader },
      payload: ProxyCall,
      success: Schema.Union([CallResult, Quote]),
      problems: [
        402,
        404,
        502,
        504,
        "ACCOUNT_FROZEN",
        "CALL_NOT_ALLOWED",
        "DUPLICATE",
        "PRICE_CHANGED",
        "ANSWER_NOT_KEPT",
        "BLOCKED_ENDPOINT",
        "CAP_REQUIRED",
        "IDEMPOTENCY_CONFLICT"
      ]
    }),
    usage("usage", "/api/market/usage"),
    usage("usageV1", "/api/v1/market/usage"),
    usageSummary("usageSummary", "/api/market/usage/summary"),
    usageSummary("usageSummaryV1", "/api/v1/market/usage/summary"),
    Endpoint.get("freeTiers", "/api/v1/market/free-tiers", {
      access: readBy("consumer"),
      summary: "List your free tiers",
      description: "Returns the free calls left this month (UTC) for each tool that you have called.",
      success: FreeTierList
    })
  )
  .annotateMerge(Endpoint.about("Calls", "Calls of tools, and their usage.")) {}
