/**
 * A tool as a provider declares it. The price has three spellings, one at a time. When a registered tool is updated, an
 * absent field keeps its value and `null` resets it to its default.
 */
import { Schema } from "effect"
import { FREE_TIER_CALLS_MAX } from "../../../domain/catalog/Terms.ts"
import {
  BillingPolicy,
  Category,
  type ToolAnnotations as DomainAnnotations,
  type ToolChange,
  type ToolDeclaration,
  ToolName
} from "../../../domain/catalog/Tool.ts"
import { TOOL_TIMEOUT_MS_MAX } from "../../../domain/metering/CallTerms.ts"
import { fromCents, Microcents, MicrocentsFromInt } from "../../../domain/shared/Microcents.ts"
import { definitionFault } from "../../../domain/shared/PlainText.ts"
import * as Field from "../contract/Field.ts"
import { IntBetween, JsonObject, Line, Text, WholeCents } from "../contract/InputSchemas.ts"
import { INPUT_SCHEMA } from "../contract/SampleValues.ts"
import { fieldsOf } from "../pipeline/Views.ts"
import * as shared from "../contract/SharedFields.ts"

const Definition = JsonObject.check(Schema.makeFilter(definitionFault))

const resettable = <S extends Schema.Top>(schema: S, description: string) =>
  Field.optional(Schema.NullOr(schema), description)

const sentFreeTierCalls = resettable(
  IntBetween(0, FREE_TIER_CALLS_MAX),
  "Free calls per consumer and calendar month (UTC)."
)

const OnCancel = Schema.Literals(["finish", "pass"])
const CanceledCallCosts = Schema.Literals(["price", "nothing"])

const BILLING_POLICY =
  "Calls that are billed: successful calls, calls whose output is valid against `output_schema`, or every attempt."
const ON_CANCEL =
  "What happens when the caller cancels a forwarded call or disconnects. `finish` (default): the call runs to its end and " +
  "is billed by its outcome. `pass`: the cancellation is passed to the provider, and `canceled_call_costs` applies."
const CANCELED_CALL_COSTS =
  "Cost of a call whose cancellation was passed to the provider: its list price (at most the hold), or nothing. Applies " +
  "only if `on_cancel` is `pass`."

const hint = (meaning: string) => Field.optional(Schema.Boolean, meaning)

export const ToolAnnotations = Field.object("ToolAnnotations", "Hints of the MCP server about the tool.", {
  read_only_hint: hint("The tool does not change its environment."),
  destructive_hint: hint("The tool may delete or overwrite things."),
  idempotent_hint: hint("Repeating a call with the same arguments has no further effect."),
  open_world_hint: hint("The tool interacts with systems outside of its own.")
})

export const TOOL_ANNOTATIONS = "Hints of the MCP server about the tool. They are shown, and change nothing else."

export const toolExample = {
  tool_name: "search",
  display_name: "Paper search",
  description: "Full-text search over public papers",
  category: "search",
  price_microcents: Microcents.make(500n),
  free_tier_calls: 10,
  input_schema: INPUT_SCHEMA
}

export const ToolBody = Field.object(
  "ToolDeclaration",
  "A tool as its provider declares it. Send one price or none. In an update, an absent field keeps its value and " +
    "`null` resets it to its default.",
  {
    tool_name: Field.of(ToolName, "Name of the tool, exactly as your MCP server lists it.", "search"),
    display_name: resettable(Line(200), "Display name of the tool. Default: `tool_name`."),
    description: resettable(Text(4_000), "Description of the tool."),
    category: resettable(Category, "Category of the tool. Default: `other`."),
    price_cents_override: resettable(WholeCents, "Price of a call in cents."),
    price_microcents: resettable(MicrocentsFromInt, "Price of a call in microcents (1/10,000 of a cent)."),
    pricing: resettable(
      Schema.Struct({
        price_cents: resettable(WholeCents, "Price of a call in cents."),
        free_tier_calls: sentFreeTierCalls
      }),
      "Price and free tier in one object, as older clients send them."
    ),
    free_tier_calls: sentFreeTierCalls,
    input_schema: resettable(
      Definition,
      "JSON Schema of the arguments. Calls with invalid arguments are rejected without charge."
    ),
    output_schema: resettable(Definition, "JSON Schema of the result."),
    annotations: resettable(ToolAnnotations, TOOL_ANNOTATIONS),
    billing_policy: resettable(BillingPolicy, BILLING_POLICY),
    max_cost_microcents: resettable(
      MicrocentsFromInt,
      "Maximum cost of a call in microcents. Above the price, the tool is usage-priced: you report the cost of each call."
    ),
    timeout_ms: resettable(IntBetween(100, TOOL_TIMEOUT_MS_MAX), "Timeout of an attempt in milliseconds."),
    idempotent: resettable(Schema.Boolean, "Whether the call is idempotent: a failed attempt may be retried."),
    on_cancel: resettable(OnCancel, ON_CANCEL),
    canceled_call_costs: resettable(CanceledCallCosts, CANCELED_CALL_COSTS),
    unlisted: Field.optional(
      Schema.Boolean,
      "Register the tool although your MCP server does not list it. It then does not follow the server."
    )
  }
)
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
    examples: [toolExample]
  })
export type ToolBody = typeof ToolBody.Type

/** The declaration that leaves a tool unchanged: defaults stay defaults. */
export const toBody = (tool: ToolDeclaration): StoredDeclaration => ({
  ...fieldsOf(tool, "toolName", "displayName", "description", "category"),
  ...(tool.price === undefined ? {} : { price_microcents: tool.price }),
  ...(tool.freeTierCalls === undefined ? {} : { free_tier_calls: tool.freeTierCalls }),
  ...(tool.inputSchema === undefined ? {} : { input_schema: tool.inputSchema as typeof JsonObject.Type }),
  ...(tool.outputSchema === undefined ? {} : { output_schema: tool.outputSchema as typeof JsonObject.Type }),
  ...(tool.annotations === undefined ? {} : { annotations: annotationsView(tool.annotations) }),
  billing_policy: tool.billingPolicy,
  ...(tool.maxCost === undefined ? {} : { max_cost_microcents: tool.maxCost }),
  ...(tool.timeoutMs === undefined ? {} : { timeout_ms: tool.timeoutMs }),
  ...fieldsOf(tool, "idempotent", "onCancel", "canceledCallCosts")
})

/** The hints as they are named in MCP. */
const toHints = (hints: typeof ToolAnnotations.Type): DomainAnnotations => ({
  ...(hints.read_only_hint === undefined ? {} : { readOnlyHint: hints.read_only_hint }),
  ...(hints.destructive_hint === undefined ? {} : { destructiveHint: hints.destructive_hint }),
  ...(hints.idempotent_hint === undefined ? {} : { idempotentHint: hints.idempotent_hint }),
  ...(hints.open_world_hint === undefined ? {} : { openWorldHint: hints.open_world_hint })
})

const sentHints = (hints: ToolBody["annotations"]): DomainAnnotations | null | undefined =>
  hints === undefined || hints === null ? hints : toHints(hints)

export const annotationsView = (hints: DomainAnnotations): typeof ToolAnnotations.Type => ({
  ...(hints.readOnlyHint === undefined ? {} : { read_only_hint: hints.readOnlyHint }),
  ...(hints.destructiveHint === undefined ? {} : { destructive_hint: hints.destructiveHint }),
  ...(hints.idempotentHint === undefined ? {} : { idempotent_hint: hints.idempotentHint }),
  ...(hints.openWorldHint === undefined ? {} : { open_world_hint: hints.openWorldHint })
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
  annotations: sentHints(body.annotations),
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

/** The first value that was sent; `null` counts as sent. */
const sentFirst = <A>(one: A | null | undefined, other: A | null | undefined): A | null | undefined =>
  one === undefined ? other : one

// The price of a tool on the wire: current, former and upcoming terms.

export const PricingModel = Schema.Literals(["per_call", "per_token", "free"])

const price = "Price of a call"

export const billingPolicy = Field.of(BillingPolicy, BILLING_POLICY)
export const onCancel = Field.of(OnCancel, ON_CANCEL)
export const canceledCallCosts = Field.of(CanceledCallCosts, CANCELED_CALL_COSTS)
export const priceVersion = Field.int("Number of the price version.", 3)
export const priceCents = Field.cents(price, 0)
export const priceShown = Field.string(
  `${price} as display text, with \`up to\` the maximum if usage-priced.`,
  "$0.0005"
)
export const priceMicrocents = Field.microcents(price, 500)
export const maxCostMicrocents = Field.microcents("Maximum cost of a call", 500)
export const usagePriced = Field.boolean(
  "Whether the provider reports the cost of each call, up to `max_cost_microcents`. Calls then need a cap.",
  false
)
export const freeTierCalls = Field.int("Free calls per consumer and calendar month (UTC).", 10)

/** What is stored may be older than the rules of `ToolBody`, so a response has none of them. */
export const StoredDeclaration = Field.object(
  "StoredDeclaration",
  "A tool as its provider declared it. An absent field has its default.",
  {
    tool_name: shared.toolName,
    display_name: shared.displayName,
    description: shared.toolDescription,
    category: shared.category,
    price_microcents: Field.optionalMicrocents(price),
    free_tier_calls: Schema.optionalKey(freeTierCalls),
    input_schema: Field.optional(JsonObject, "JSON Schema of the arguments."),
    output_schema: Field.optional(JsonObject, "JSON Schema of the result."),
    annotations: Field.optional(ToolAnnotations, TOOL_ANNOTATIONS),
    billing_policy: billingPolicy,
    max_cost_microcents: Field.optionalMicrocents("Maximum cost of a call"),
    timeout_ms: Field.optional(Schema.Int, "Timeout of an attempt in milliseconds."),
    idempotent: Field.boolean("Whether the call is idempotent: a failed attempt may be retried."),
    on_cancel: onCancel,
    canceled_call_costs: canceledCallCosts
  }
)
export type StoredDeclaration = typeof StoredDeclaration.Type

const terms = {
  price_microcents: priceMicrocents,
  max_cost_microcents: maxCostMicrocents,
  price: priceShown,
  usage_priced: usagePriced,
  free_tier_calls: freeTierCalls,
  billing_policy: billingPolicy,
  on_cancel: onCancel,
  canceled_call_costs: canceledCallCosts
}

const UpcomingPrice = Field.object(
  "UpcomingPrice",
  "Announced terms. No call is charged by them before they take effect.",
  {
    price_version: priceVersion,
    ...terms,
    output_schema_changes: Field.boolean(
      "Whether the `output_schema` by which `valid_output` bills changes too: `declaration.output_schema` of the tool.",
      false
    ),
    announced_at: Field.timestamp("Time of the announcement.", "2026-11-20T09:00:00.000Z"),
    effective_from: Field.timestamp("Time from which calls are charged by these terms.", "2026-11-21T09:00:00.000Z")
  }
)

export const PriceSince = Field.object(
  "PriceSince",
  "A price version. A receipt keeps the version that its call was billed by.",
  {
    version: Field.int("Number of the price version.", 1),
    ...terms,
    effective_from: Field.timestamp("Time from which these terms applied.", "2026-11-02T08:00:00.000Z")
  }
)

export const upcoming = Field.nullable(UpcomingPrice, "Announced terms that are not in effect yet. `null`: none.")

export const freeTierFields = {
  free_tier_limit: Field.int("Same as `free_tier_calls`.", 10),
  free_tier_remaining: Field.int(
    "Free calls per month of a consumer that has used none. For your own number: a quote or " +
      "`GET /api/v1/market/free-tiers`.",
    10
  )
}

export const pricingFields = {
  model: Field.of(PricingModel, "Pricing model of the provider."),
  price_cents: priceCents,
  ...terms,
  price_version: priceVersion,
  ...freeTierFields,
  upcoming
}

/** The same price under the names of the price list. */
export const pricePerCall = {
  price_per_call_microcents: priceMicrocents,
  price_per_call_cents: priceCents,
  price_per_call: Field.dollars(price, "$0.0005")
}
