/**
 * A tool on the wire: as the catalog and the price list show it, and in detail.
 */
import { Schema } from "effect"
import { ProviderId } from "../../../domain/shared/Ids.ts"
import { MicrocentsFromInt } from "../../../domain/shared/Microcents.ts"
import { Badge, VerificationLevel } from "../../../domain/trust/TrustScore.ts"
import * as Field from "../contract/Field.ts"
import { defaultFee, feeBps } from "../contract/PlatformFeeBodies.ts"
import * as price from "./PriceFields.ts"
import { INPUT_SCHEMA, PROVIDER_ID } from "../contract/SampleValues.ts"
import * as shared from "../contract/SharedFields.ts"
import { TOOL_ANNOTATIONS, ToolAnnotations, ToolBody } from "./ToolBody.ts"
import { ToolVersionSummary } from "./ImportBodies.ts"

const JsonSchema = Schema.Record(Schema.String, Schema.Unknown)

const Provider = Schema.Struct({
  id: Field.of(ProviderId, "ID of the provider.", PROVIDER_ID),
  handle: shared.handle,
  name: shared.providerName,
  verified: Field.boolean("Whether the provider has a verification level.", false),
  verification_level: Field.of(VerificationLevel, "Highest verification level of the provider."),
  badge: Field.of(Badge, "Badge for the trust score."),
  trust_score: Field.nullableInt("Trust score from 0 to 100. `null`: too few calls.")
})

const Stats = Schema.Struct({
  total_calls: Field.int("Calls through the proxy, without the provider's own calls.", 1_204),
  reported_calls: Field.int("Calls reported to `POST /api/v1/market/meter`; not part of any other statistic.", 0),
  avg_latency_ms: Field.nullableNumber("Average latency of proxied calls in milliseconds. `null`: no calls.", 86),
  avg_response_time_ms: Field.nullableNumber("Same as `avg_latency_ms`.", 86),
  p95_latency_ms: Field.nullableNumber("p95 latency of proxied calls in milliseconds. `null`: no calls.", 140),
  uptime_pct: Field.nullableNumber(
    "Success rate of proxied calls in percent. Calls with rejected input are left out up to 5% of all calls.",
    99.92
  )
})

export const CatalogTool = Field.object("CatalogTool", "A tool with its price and statistics.", {
  id: shared.toolId,
  tool_name: shared.toolName,
  qualified_name: shared.qualifiedName,
  display_name: shared.displayName,
  description: shared.toolDescription,
  category: shared.category,
  input_schema: Field.nullable(JsonSchema, "JSON Schema of the arguments. `null`: none.", INPUT_SCHEMA),
  provider: Field.of(Provider, "Provider of the tool."),
  pricing: Field.of(Schema.Struct(price.pricingFields), "Price of a call."),
  stats: Field.of(Stats, "Statistics of proxied calls."),
  on_cancel: price.onCancel,
  canceled_call_costs: price.canceledCallCosts,
  annotations: Field.nullable(ToolAnnotations, TOOL_ANNOTATIONS),
  state: Field.of(
    Schema.Literals(["listed", "draft", "withdrawn"]),
    "State of the tool. A draft was never listed: only its provider sees it."
  ),
  withdrawn_at: Field.nullableTimestamp("Time when the tool was withdrawn. `null`: it is listed, or a draft."),
  provider_frozen_at: Field.nullableTimestamp(
    "Time since which the operator has frozen the provider: its tools cannot be called and are not listed. `null`: it is not."
  )
})
export type CatalogTool = typeof CatalogTool.Type

export const ToolDetails = Field.object(
  "ToolDetails",
  "A tool with its schemas, its price history and its declaration.",
  {
    ...CatalogTool.fields,
    output_schema: Field.nullable(JsonSchema, "JSON Schema of the result. `null`: none.", { type: "object" }),
    billing_policy: price.billingPolicy,
    max_cost_microcents: Field.nullable(
      MicrocentsFromInt,
      "Maximum cost of a call in microcents. `null`: a call costs its price."
    ),
    timeout_ms: Field.nullableInt("Timeout of an attempt in milliseconds. `null`: the default of the service.", 10_000),
    idempotent: Field.boolean("Whether the call is idempotent: a failed attempt may be retried."),
    price_history: Field.list(price.PriceSince, "Current and former price versions, newest first."),
    version_history: Field.list(
      ToolVersionSummary,
      "Versions of names, description, schemas and annotations, newest first."
    ),
    unchecked: Field.nullable(
      Schema.Array(Schema.String),
      "What of the schemas is not checked, and why: patterns that do not run in linear time, in schemas that were registered " +
        "before such patterns were rejected. `null`: not known at the moment.",
      []
    ),
    declaration: Field.of(
      ToolBody,
      "Declaration of the tool. To update the tool, change it and send it to `POST /api/market/tools`."
    )
  }
)
export type ToolDetails = typeof ToolDetails.Type

const PriceLine = Field.object("PriceLine", "The price of a tool.", {
  tool_id: shared.toolId,
  tool_name: shared.toolName,
  qualified_name: shared.qualifiedName,
  display_name: shared.displayName,
  description: shared.toolDescription,
  category: shared.category,
  provider: shared.providerName,
  provider_id: shared.providerId,
  provider_handle: shared.handle,
  pricing: Field.of(Schema.Struct({ ...price.pricingFields, ...price.pricePerCall }), "Price of a call."),
  price_cents: price.priceCents,
  price: price.priceShown,
  platform_fee_bps: feeBps("Platform fee of the provider, part of the price,"),
  ...price.freeTierFields
})

export const PriceList = Field.object("PriceList", "Price list of all tools, and the platform fee.", {
  pricing: Field.list(PriceLine, "One line per tool."),
  tools: Field.list(PriceLine, "Same as `pricing`."),
  ...shared.pageFields,
  ...defaultFee,
  microcents_per_cent: Field.always(10_000, "Number of microcents in a cent."),
  timestamp: shared.answeredAt
})
