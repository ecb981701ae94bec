/**
 * Rows of tools and their prices, and how they map to catalog entries.
 */
import { DateTime } from "effect"
import type { PricingModel } from "../../../domain/accounts/Account.ts"
import { type CatalogEntry, entryOf } from "../../../domain/catalog/CatalogStore.ts"
import { billedSchemaOf, type CancellationTerm, type PriceVersion } from "../../../domain/catalog/Terms.ts"
import type {
  BillingPolicy,
  CanceledCallCosts,
  JsonSchemaObject,
  OnCancel,
  ToolAnnotations
} from "../../../domain/catalog/Tool.ts"
import { ProviderId, ToolId } from "../../../domain/shared/Ids.ts"
import { Microcents } from "../../../domain/shared/Microcents.ts"
import { FEE_COLUMNS, type FeeRow, type FrozenRow, toFee, toFreeze } from "../accounts/PostgresAccountStores.ts"
import { rowReader, toInstant, toInstantOrUndefined } from "../shared/Rows.ts"

export interface EntryRow extends FeeRow, FrozenRow {
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
  readonly effective_max_cost_microcents: bigint
  readonly effective_billing_policy: BillingPolicy
  readonly effective_leaving: CancellationTerm
  readonly price_version: number
  readonly price_versions: number
  readonly price_announced_at: Date
  readonly price_since: Date
  readonly upcoming: UpcomingJson | null
  readonly input_schema: JsonSchemaObject | null
  readonly output_schema: JsonSchemaObject | null
  readonly effective_output_schema: JsonSchemaObject | null
  readonly annotations: ToolAnnotations | null
  readonly billing_policy: BillingPolicy
  readonly max_cost_microcents: bigint | null
  readonly timeout_ms: number | null
  readonly idempotent: boolean
  readonly on_cancel: OnCancel
  readonly canceled_call_costs: CanceledCallCosts
  readonly created_at: Date
  readonly updated_at: Date
  readonly withdrawn_at: Date | null
  readonly draft: boolean
  readonly withdrawn_by_server: boolean
  readonly provider_handle: string
  readonly provider_name: string
  readonly endpoint_url: string
  readonly pricing_model: PricingModel
}

/** Amounts are text, because a JSON number of this size loses precision. Times are in milliseconds. */
interface UpcomingJson {
  readonly version: number
  readonly price: string
  readonly maximum: string
  readonly free_tier_calls: number
  readonly billing_policy: BillingPolicy
  readonly leaving: CancellationTerm
  readonly announced_ms: number
  readonly effective_ms: number
}

const UPCOMING =
  "CASE WHEN t.upcoming_version IS NOT NULL THEN (SELECT json_build_object('version', u.version, " +
  "'price', u.price_microcents::text, 'maximum', u.max_cost_microcents::text, 'free_tier_calls', u.free_tier_calls, " +
  "'billing_policy', u.billing_policy, 'leaving', u.leaving, 'announced_ms', (extract(epoch FROM u.announced_at) * 1000)::int8, " +
  "'effective_ms', (extract(epoch FROM u.effective_from) * 1000)::int8) " +
  "FROM tool_prices u WHERE u.tool_id = t.id AND u.version = t.upcoming_version) END AS upcoming"

/** The tables are `tools t` and `providers p`. */
export const ENTRY_COLUMNS =
  "t.id, t.provider_id, t.tool_name, t.category, t.display_name, t.description, t.price_microcents, " +
  "t.free_tier_calls, t.effective_price_microcents, t.effective_free_tier_calls, " +
  "t.effective_max_cost_microcents, t.effective_billing_policy, t.effective_leaving, t.price_version, t.price_versions, " +
  `t.price_announced_at, t.price_since, ${UPCOMING}, t.input_schema, ` +
  "t.output_schema, t.effective_output_schema, t.annotations, t.billing_policy, t.max_cost_microcents, t.timeout_ms, t.idempotent, t.on_cancel, " +
  "t.canceled_call_costs, t.created_at, " +
  "t.updated_at, t.withdrawn_at, t.draft, t.withdrawn_by_server, p.handle AS provider_handle, p.name AS provider_name, p.endpoint_url, p.pricing_model, " +
  "p.frozen_at, p.frozen_reason, " +
  FEE_COLUMNS

export const toPriceVersion = rowReader<PriceVersion>({
  price_microcents: "price",
  max_cost_microcents: "maximum",
  leaving: "cancellation"
})

export const toEntry = (row: EntryRow): CatalogEntry => {
  const outputSchema = row.output_schema ?? undefined
  return entryOf(
    {
      id: ToolId.make(row.id),
      providerId: ProviderId.make(row.provider_id),
      toolName: row.tool_name,
      displayName: row.display_name,
      description: row.description,
      category: row.category,
      declared: {
        price: toMicrocentsOrUndefined(row.price_microcents),
        maxCost: toMicrocentsOrUndefined(row.max_cost_microcents),
        freeTierCalls: row.free_tier_calls ?? undefined,
        billingPolicy: row.billing_policy,
        outputSchema,
        onCancel: row.on_cancel,
        canceledCallCosts: row.canceled_call_costs
      },
      inputSchema: row.input_schema ?? undefined,
      annotations: row.annotations ?? undefined,
      timeoutMs: row.timeout_ms ?? undefined,
      idempotent: row.idempotent,
      createdAt: toInstant(row.created_at),
      updatedAt: toInstant(row.updated_at),
      withdrawnAt: toInstantOrUndefined(row.withdrawn_at),
      draft: row.draft,
      withdrawnByServer: row.withdrawn_by_server
    },
    {
      inEffect: {
        version: row.price_version,
        price: Microcents.make(row.effective_price_microcents),
        maximum: Microcents.make(row.effective_max_cost_microcents),
        freeTierCalls: row.effective_free_tier_calls,
        billingPolicy: row.effective_billing_policy,
        ...billedSchemaOf(row.effective_billing_policy, row.effective_output_schema ?? outputSchema),
        cancellation: row.effective_leaving,
        announcedAt: toInstant(row.price_announced_at),
        effectiveFrom: toInstant(row.price_since),
        replacedAt: undefined
      },
      upcoming: row.upcoming === null ? undefined : toUpcoming(row.upcoming, outputSchema),
      lastVersion: row.price_versions
    },
    {
      id: ProviderId.make(row.provider_id),
      handle: row.provider_handle,
      name: row.provider_name,
      endpointUrl: row.endpoint_url,
      pricingModel: row.pricing_model,
      frozen: toFreeze(row),
      fee: toFee(row)
    }
  )
}

/** Announced terms are those of the declaration. */
const toUpcoming = (row: UpcomingJson, declared: JsonSchemaObject | undefined): PriceVersion => ({
  version: row.version,
  price: Microcents.make(BigInt(row.price)),
  maximum: Microcents.make(BigInt(row.maximum)),
  freeTierCalls: row.free_tier_calls,
  billingPolicy: row.billing_policy,
  ...billedSchemaOf(row.billing_policy, declared),
  cancellation: row.leaving,
  announcedAt: DateTime.makeUnsafe(row.announced_ms),
  effectiveFrom: DateTime.makeUnsafe(row.effective_ms),
  replacedAt: undefined
})

const toMicrocentsOrUndefined = (amount: bigint | null): Microcents | undefined =>
  amount === null ? undefined : Microcents.make(amount)
