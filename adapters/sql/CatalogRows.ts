/**
 * Rows of tools and their prices, and what the catalogue makes of them.
 */
import type { PricingModel } from "../../domain/accounts/Account.ts"
import type { CatalogEntry } from "../../domain/catalog/CatalogStore.ts"
import type {
  BillingPolicy,
  CanceledCallCosts,
  JsonSchemaObject,
  OnCancel,
  PriceVersion
} from "../../domain/catalog/Tool.ts"
import { ProviderId, ToolId } from "../../domain/shared/Ids.ts"
import { Microcents } from "../../domain/shared/Microcents.ts"
import { toInstant } from "./Instants.ts"

export interface EntryRow {
  readonly id: string
  readonly provider_id: string
  readonly tool_name: string
  readonly category: string
  readonly display_name: string
  readonly description: string
  readonly price_microcents: bigint | null
  readonly free_tier_calls: number | null
  readonly effective_price_microcents: bigint
  readonly effective_free_tier_calls: number
  readonly price_version: number
  readonly input_schema: JsonSchemaObject | null
  readonly output_schema: JsonSchemaObject | null
  readonly billing_policy: BillingPolicy
  readonly max_cost_microcents: bigint | null
  readonly timeout_ms: number | null
  readonly idempotent: boolean
  readonly on_cancel: OnCancel
  readonly canceled_call_costs: CanceledCallCosts
  readonly created_at: Date
  readonly updated_at: Date
  readonly withdrawn_at: Date | null
  readonly provider_name: string
  readonly endpoint_url: string
  readonly pricing_model: PricingModel
}

/** Of `tools t` joined to `providers p`. */
export const ENTRY_COLUMNS =
  "t.id, t.provider_id, t.tool_name, t.category, t.display_name, t.description, t.price_microcents, " +
  "t.free_tier_calls, t.effective_price_microcents, t.effective_free_tier_calls, t.price_version, t.input_schema, " +
  "t.output_schema, t.billing_policy, t.max_cost_microcents, t.timeout_ms, t.idempotent, t.on_cancel, t.canceled_call_costs, t.created_at, " +
  "t.updated_at, t.withdrawn_at, p.name AS provider_name, p.endpoint_url, p.pricing_model"

export interface PriceRow {
  readonly version: number
  readonly price_microcents: bigint
  readonly free_tier_calls: number
  readonly effective_from: Date
}

export const toEntry = (row: EntryRow): CatalogEntry => ({
  tool: {
    id: ToolId.make(row.id),
    providerId: ProviderId.make(row.provider_id),
    toolName: row.tool_name,
    displayName: row.display_name,
    description: row.description,
    category: row.category,
    price: toMicrocentsOrUndefined(row.price_microcents),
    freeTierCalls: row.free_tier_calls ?? undefined,
    inputSchema: row.input_schema ?? undefined,
    outputSchema: row.output_schema ?? undefined,
    billingPolicy: row.billing_policy,
    maxCost: toMicrocentsOrUndefined(row.max_cost_microcents),
    timeoutMs: row.timeout_ms ?? undefined,
    idempotent: row.idempotent,
    onCancel: row.on_cancel,
    canceledCallCosts: row.canceled_call_costs,
    createdAt: toInstant(row.created_at),
    updatedAt: toInstant(row.updated_at),
    priceVersion: row.price_version,
    withdrawnAt: row.withdrawn_at === null ? undefined : toInstant(row.withdrawn_at)
  },
  price: Microcents.make(row.effective_price_microcents),
  freeTierCalls: row.effective_free_tier_calls,
  provider: {
    id: ProviderId.make(row.provider_id),
    name: row.provider_name,
    endpointUrl: row.endpoint_url,
    pricingModel: row.pricing_model
  }
})

export const toPriceVersion = (row: PriceRow): PriceVersion => ({
  version: row.version,
  price: Microcents.make(row.price_microcents),
  freeTierCalls: row.free_tier_calls,
  effectiveFrom: toInstant(row.effective_from)
})

const toMicrocentsOrUndefined = (amount: bigint | null): Microcents | undefined =>
  amount === null ? undefined : Microcents.make(amount)
