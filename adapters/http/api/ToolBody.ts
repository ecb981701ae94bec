/**
 * A tool as a provider declares it on the wire. The price may be written in three ways; only one at a time.
 */
import { Schema } from "effect"
import { FREE_TIER_CALLS_MAX } from "../../../domain/catalog/Pricing.ts"
import { Category, type ToolDeclaration, ToolName } from "../../../domain/catalog/Tool.ts"
import { fromCents, Microcents, MicrocentsFromInt } from "../../../domain/shared/Microcents.ts"
import { Text, WholeCents } from "./Fields.ts"

export const TOOL_TIMEOUT_MS_MAX = 60_000

const JsonObject = Schema.Record(Schema.String, Schema.Json)
const FreeTierCalls = Schema.Int.check(
  Schema.isGreaterThanOrEqualTo(0),
  Schema.isLessThanOrEqualTo(FREE_TIER_CALLS_MAX)
)

export const OnCancelWord = Schema.Literals(["finish", "pass"])
export const CanceledCallCostsWord = Schema.Literals(["price", "nothing"])

export const ToolBody = Schema.Struct({
  tool_name: ToolName,
  display_name: Schema.optionalKey(Text(200)),
  description: Schema.optionalKey(Text(4_000)),
  category: Schema.optionalKey(Category),
  price_cents_override: Schema.optionalKey(WholeCents),
  price_microcents: Schema.optionalKey(MicrocentsFromInt),
  pricing: Schema.optionalKey(
    Schema.Struct({
      price_cents: Schema.optionalKey(WholeCents),
      free_tier_calls: Schema.optionalKey(FreeTierCalls)
    })
  ),
  free_tier_calls: Schema.optionalKey(FreeTierCalls),
  input_schema: Schema.optionalKey(JsonObject),
  output_schema: Schema.optionalKey(JsonObject),
  billing_policy: Schema.optionalKey(Schema.Literals(["success", "valid_output", "attempt"])),
  max_cost_microcents: Schema.optionalKey(MicrocentsFromInt),
  timeout_ms: Schema.optionalKey(
    Schema.Int.check(Schema.isGreaterThanOrEqualTo(100), Schema.isLessThanOrEqualTo(TOOL_TIMEOUT_MS_MAX))
  ),
  idempotent: Schema.optionalKey(Schema.Boolean),
  on_cancel: Schema.optionalKey(OnCancelWord),
  canceled_call_costs: Schema.optionalKey(CanceledCallCostsWord)
})
  .check(
    Schema.makeFilter((body) => {
      const prices = [body.price_cents_override, body.price_microcents, body.pricing?.price_cents]
      if (prices.filter((price) => price !== undefined).length > 1) {
        return "Expected one price: price_cents_override, price_microcents or pricing.price_cents"
      }
      return body.free_tier_calls !== undefined && body.pricing?.free_tier_calls !== undefined
        ? "Expected free_tier_calls once: either beside pricing or inside it"
        : undefined
    })
  )
  .annotate({
    identifier: "ToolDeclaration",
    examples: [
      {
        tool_name: "search",
        description: "Full-text search",
        category: "search",
        price_microcents: Microcents.make(500n),
        free_tier_calls: 10
      }
    ]
  })
export type ToolBody = typeof ToolBody.Type

/** What its provider would send to leave a tool as it is: what was left to a default stays so. */
export const toBody = (tool: ToolDeclaration): ToolBody => ({
  tool_name: tool.toolName,
  display_name: tool.displayName,
  description: tool.description,
  category: tool.category,
  ...(tool.price === undefined ? {} : { price_microcents: tool.price }),
  ...(tool.freeTierCalls === undefined ? {} : { free_tier_calls: tool.freeTierCalls }),
  ...(tool.inputSchema === undefined ? {} : { input_schema: tool.inputSchema as typeof JsonObject.Type }),
  ...(tool.outputSchema === undefined ? {} : { output_schema: tool.outputSchema as typeof JsonObject.Type }),
  billing_policy: tool.billingPolicy,
  ...(tool.maxCost === undefined ? {} : { max_cost_microcents: tool.maxCost }),
  ...(tool.timeoutMs === undefined ? {} : { timeout_ms: tool.timeoutMs }),
  idempotent: tool.idempotent,
  on_cancel: tool.onCancel,
  canceled_call_costs: tool.canceledCallCosts
})

export const toDeclaration = (body: ToolBody): ToolDeclaration => {
  const cents = body.price_cents_override ?? body.pricing?.price_cents
  return {
    toolName: body.tool_name,
    displayName: body.display_name ?? body.tool_name,
    description: body.description ?? "",
    category: body.category ?? "other",
    price: body.price_microcents ?? (cents === undefined ? undefined : fromCents(cents)),
    freeTierCalls: body.free_tier_calls ?? body.pricing?.free_tier_calls,
    inputSchema: body.input_schema,
    outputSchema: body.output_schema,
    billingPolicy: body.billing_policy ?? "success",
    maxCost: body.max_cost_microcents,
    timeoutMs: body.timeout_ms,
    idempotent: body.idempotent ?? false,
    onCancel: body.on_cancel ?? "finish",
    canceledCallCosts: body.canceled_call_costs ?? "price"
  }
}
