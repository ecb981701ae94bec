/**
 * A tool as a provider declares it on the wire. The price may be written in three ways; only one at a time. Of a tool
 * that is registered already an absent field stays as it is, and `null` resets one to its default.
 */
import { Schema } from "effect"
import { FREE_TIER_CALLS_MAX } from "../../../domain/catalog/Pricing.ts"
import { Category, type ToolChange, type ToolDeclaration, ToolName } from "../../../domain/catalog/Tool.ts"
import { fromCents, Microcents, MicrocentsFromInt } from "../../../domain/shared/Microcents.ts"
import { Text, WholeCents } from "./Fields.ts"

export const TOOL_TIMEOUT_MS_MAX = 60_000

const JsonObject = Schema.Record(Schema.String, Schema.Json)
const FreeTierCalls = Schema.Int.check(
  Schema.isGreaterThanOrEqualTo(0),
  Schema.isLessThanOrEqualTo(FREE_TIER_CALLS_MAX)
)

const resettable = <S extends Schema.Top>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))

export const OnCancelWord = Schema.Literals(["finish", "pass"])
export const CanceledCallCostsWord = Schema.Literals(["price", "nothing"])

export const ToolBody = Schema.Struct({
  tool_name: ToolName,
  display_name: resettable(Text(200)),
  description: resettable(Text(4_000)),
  category: resettable(Category),
  price_cents_override: resettable(WholeCents),
  price_microcents: resettable(MicrocentsFromInt),
  pricing: resettable(
    Schema.Struct({
      price_cents: resettable(WholeCents),
      free_tier_calls: resettable(FreeTierCalls)
    })
  ),
  free_tier_calls: resettable(FreeTierCalls),
  input_schema: resettable(JsonObject),
  output_schema: resettable(JsonObject),
  billing_policy: resettable(Schema.Literals(["success", "valid_output", "attempt"])),
  max_cost_microcents: resettable(MicrocentsFromInt),
  timeout_ms: resettable(
    Schema.Int.check(Schema.isGreaterThanOrEqualTo(100), Schema.isLessThanOrEqualTo(TOOL_TIMEOUT_MS_MAX))
  ),
  idempotent: resettable(Schema.Boolean),
  on_cancel: resettable(OnCancelWord),
  canceled_call_costs: resettable(CanceledCallCostsWord)
})
  .check(
    Schema.makeFilter((body) => {
      const prices = [body.price_cents_override, body.price_microcents, body.pricing?.price_cents]
      if (prices.filter((price) => price !== undefined).length > 1) {
        return "Send one price: `price_cents_override`, `price_microcents` or `pricing.price_cents`."
      }
      return body.free_tier_calls !== undefined && body.pricing?.free_tier_calls !== undefined
        ? "Send `free_tier_calls` once: either beside `pricing` or inside it."
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

export const toChange = (body: ToolBody): ToolChange => ({
  toolName: body.tool_name,
  displayName: body.display_name,
  description: body.description,
  category: body.category,
  price: priceOf(body),
  freeTierCalls: sentFirst(body.free_tier_calls, fromPricing(body.pricing, "free_tier_calls")),
  inputSchema: body.input_schema,
  outputSchema: body.output_schema,
  billingPolicy: body.billing_policy,
  maxCost: body.max_cost_microcents,
  timeoutMs: body.timeout_ms,
  idempotent: body.idempotent,
  onCancel: body.on_cancel,
  canceledCallCosts: body.canceled_call_costs
})

const priceOf = (body: ToolBody): Microcents | null | undefined => {
  if (body.price_microcents !== undefined) return body.price_microcents
  const cents = sentFirst(body.price_cents_override, fromPricing(body.pricing, "price_cents"))
  return typeof cents === "number" ? fromCents(cents) : cents
}

/** `pricing: null` resets both of its fields. */
const fromPricing = (
  pricing: ToolBody["pricing"],
  field: "free_tier_calls" | "price_cents"
): number | null | undefined => (pricing === null ? null : pricing?.[field])

/** `null` was sent; only undefined was not. */
const sentFirst = <A>(one: A | null | undefined, other: A | null | undefined): A | null | undefined =>
  one === undefined ? other : one
