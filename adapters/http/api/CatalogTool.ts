/**
 * A tool on the wire: as the catalogue lists it, and with all that is to be known of it.
 */
import { Schema } from "effect"
import { ProviderId, ToolId } from "../../../domain/shared/Ids.ts"
import { MicrocentsFromInt } from "../../../domain/shared/Microcents.ts"
import { Timestamp } from "../../../domain/shared/Timestamp.ts"
import { Badge, VerificationLevel } from "../../../domain/trust/TrustScore.ts"
import { PriceSince, pricingFields } from "./PriceFields.ts"
import { CanceledCallCostsWord, OnCancelWord, ToolBody } from "./ToolBody.ts"

const JsonSchemaOrNull = Schema.NullOr(Schema.Record(Schema.String, Schema.Unknown))

export const CatalogTool = Schema.Struct({
  id: ToolId,
  tool_name: Schema.String,
  qualified_name: Schema.String,
  display_name: Schema.String,
  description: Schema.String,
  category: Schema.String,
  input_schema: JsonSchemaOrNull,
  provider: Schema.Struct({
    id: ProviderId,
    handle: Schema.String,
    name: Schema.String,
    verified: Schema.Boolean,
    verification_level: VerificationLevel,
    badge: Badge,
    trust_score: Schema.NullOr(Schema.Int)
  }),
  pricing: Schema.Struct(pricingFields),
  stats: Schema.Struct({
    total_calls: Schema.Int,
    reported_calls: Schema.Int,
    avg_latency_ms: Schema.NullOr(Schema.Finite),
    avg_response_time_ms: Schema.NullOr(Schema.Finite),
    p95_latency_ms: Schema.NullOr(Schema.Finite),
    uptime_pct: Schema.NullOr(Schema.Finite)
  }),
  on_cancel: OnCancelWord,
  canceled_call_costs: CanceledCallCostsWord,
  withdrawn_at: Schema.NullOr(Timestamp)
}).annotate({ identifier: "CatalogTool" })
export type CatalogTool = typeof CatalogTool.Type

export const ToolDetails = Schema.Struct({
  ...CatalogTool.fields,
  output_schema: JsonSchemaOrNull,
  billing_policy: Schema.Literals(["success", "valid_output", "attempt"]),
  max_cost_microcents: Schema.NullOr(MicrocentsFromInt),
  timeout_ms: Schema.NullOr(Schema.Int),
  idempotent: Schema.Boolean,
  price_history: Schema.Array(PriceSince),
  declaration: ToolBody
}).annotate({ identifier: "ToolDetails" })
export type ToolDetails = typeof ToolDetails.Type
