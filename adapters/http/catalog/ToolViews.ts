/**
 * Tools as the API and the pages show them: with their provider and their figures.
 */
import { Effect, Option, String as Text } from "effect"
import { qualifiedName, splitQualified } from "../../../domain/accounts/Handle.ts"
import { Catalog } from "../../../domain/catalog/Catalog.ts"
import {
  type CatalogEntry,
  MarketFigures,
  type ToolFigures,
  type ToolVersion
} from "../../../domain/catalog/CatalogStore.ts"
import {
  cancellationOf,
  isUsagePriced,
  judgesTheSame,
  priceText,
  type PriceVersion,
  type Terms,
  type ToolPrices
} from "../../../domain/catalog/Terms.ts"
import { declarationOf, type Tool } from "../../../domain/catalog/Tool.ts"
import type { ToolImport, ToolSync } from "../../../domain/catalog/ToolImport.ts"
import { type FeeChange, feePercent } from "../../../domain/ledger/PlatformFee.ts"
import { ToolNotFound } from "../../../domain/metering/ToolDirectory.ts"
import type { FeeInEffect } from "../../../domain/providers/PlatformFees.ts"
import { ToolId } from "../../../domain/shared/Ids.ts"
import { toCents } from "../../../domain/shared/Microcents.ts"
import type { StoreUnavailable } from "../../../domain/shared/StoreUnavailable.ts"
import { format } from "../../../domain/shared/Time.ts"
import type { CatalogScore } from "../../../domain/trust/SlaStore.ts"
import { Trust } from "../../../domain/trust/Trust.ts"
import type { VerificationLevel } from "../../../domain/trust/TrustScore.ts"
import { notFound, type ProblemsOf, providerError } from "../pipeline/Problems.ts"
import { fieldsOf } from "../pipeline/Views.ts"
import type { CatalogTool } from "./CatalogApi.ts"
import { annotationsView, toBody } from "./ToolBody.ts"

export const catalogProblems = {
  ToolNotFound: notFound<ToolNotFound>("GET /api/market/catalog lists all tools."),
  ToolNotYours: notFound("GET /api/v1/market/tools lists yours."),
  ServerUnreadable: providerError()
} satisfies ProblemsOf<Catalog | ToolImport | ToolSync, ToolNotFound>

// The platform fee as the API shows it.

export const feeView = ({ basisPoints, isDefault, upcoming }: FeeInEffect) => ({
  platform_fee_bps: basisPoints,
  is_default: isDefault,
  upcoming:
    upcoming === undefined
      ? null
      : {
          platform_fee_bps: upcoming.basisPoints,
          ...fieldsOf(upcoming, "isDefault", "effectiveFrom")
        }
})

export const feeChangesView = (history: ReadonlyArray<FeeChange>) => ({
  fee_changes: history.map(({ at, by, fee: { own, upcoming }, reason }) => ({
    changed_at: format(at),
    changed_by: by,
    reason: reason ?? null,
    platform_fee_bps: own ?? null,
    upcoming:
      upcoming === undefined
        ? null
        : { platform_fee_bps: upcoming.own ?? null, effective_from: format(upcoming.effectiveFrom) }
  }))
})

export const defaultFeeView = (basisPoints: number) => ({
  platform_fee: feePercent(basisPoints),
  platform_fee_bps: basisPoints
})

export const makeToolViews = Effect.gen(function* () {
  const catalog = yield* Catalog
  const figures = yield* MarketFigures
  const trust = yield* Trust

  const listed = Effect.fnUntraced(function* (entries: ReadonlyArray<CatalogEntry>) {
    const stats = yield* figures.ofTools(entries.map((entry) => entry.tool.id))
    const providers = [...new Set(entries.map((entry) => entry.provider.id))]
    const catalogScores = yield* trust.catalogScores(providers)
    const levels = yield* trust.verified(providers)
    return entries.map((entry) =>
      catalogTool(
        entry,
        stats.get(entry.tool.id),
        catalogScores.get(entry.provider.id),
        levels.get(entry.provider.id)?.level ?? "unverified"
      )
    )
  })

  /** Announced changes are in `pricing.upcoming`. */
  const effectiveSoFar = (entry: CatalogEntry) =>
    Effect.map(catalog.prices(entry.tool.id), (versions) =>
      versions.filter(({ version }) => version <= entry.priceVersion).map(priceSince)
    )

  const whole = Effect.fnUntraced(function* (entry: CatalogEntry) {
    const [shown] = yield* listed([entry])
    const { tool } = entry
    return {
      ...shown!,
      output_schema: tool.outputSchema ?? null,
      billing_policy: entry.billingPolicy,
      max_cost_microcents: isUsagePriced(entry) ? entry.maximum : null,
      timeout_ms: tool.timeoutMs ?? null,
      idempotent: tool.idempotent,
      price_history: yield* effectiveSoFar(entry),
      version_history: (yield* catalog.versions(tool.id)).map(versionSummary),
      unchecked: yield* Effect.orElseSucceed(catalog.unchecked(tool), () => null),
      declaration: toBody(declarationOf(tool))
    }
  })

  return { listed, whole }
})

const catalogTool = (
  entry: CatalogEntry,
  stats: ToolFigures | undefined,
  catalogScore: CatalogScore | undefined,
  level: VerificationLevel
): CatalogTool => {
  const { provider, tool } = entry
  return {
    id: tool.id,
    tool_name: tool.toolName,
    qualified_name: qualifiedName(provider.handle, tool.toolName),
    ...fieldsOf(tool, "displayName", "description", "category"),
    input_schema: tool.inputSchema ?? null,
    provider: {
      ...fieldsOf(provider, "id", "handle", "name"),
      verified: level !== "unverified",
      verification_level: level,
      badge: catalogScore?.badge ?? "unrated",
      trust_score: catalogScore?.score ?? null
    },
    pricing: pricingView(entry),
    stats: {
      total_calls: stats?.totalCalls ?? 0,
      reported_calls: stats?.reportedCalls ?? 0,
      avg_latency_ms: stats?.avgLatencyMs ?? null,
      avg_response_time_ms: stats?.avgLatencyMs ?? null,
      p95_latency_ms: catalogScore?.p95OfTools.get(tool.id) ?? null,
      uptime_pct: stats?.uptimePct ?? null
    },
    ...cancellationView(entry),
    annotations: tool.annotations === undefined ? null : annotationsView(tool.annotations),
    state: stateOf(tool),
    withdrawn_at: tool.withdrawnAt === undefined || tool.draft ? null : format(tool.withdrawnAt),
    provider_frozen_at: provider.frozen === undefined ? null : format(provider.frozen.at)
  }
}

const stateOf = ({ draft, withdrawnAt }: Tool): "draft" | "listed" | "withdrawn" => {
  if (draft) return "draft"
  return withdrawnAt === undefined ? "listed" : "withdrawn"
}

/** The tool of a path: by its id, or by its qualified name with the slashes encoded as `%2F`. */
export const namedTool = Effect.fnUntraced(function* (
  catalog: Catalog["Service"],
  name: string
): Effect.fn.Return<CatalogEntry, ToolNotFound | StoreUnavailable> {
  const parts = splitQualified(name)
  const found =
    parts === undefined
      ? Option.match(ToolId.makeOption(name), { onNone: () => Effect.succeedNone, onSome: catalog.find })
      : catalog.findQualified(parts.handle, parts.toolName)
  const entry = Option.getOrUndefined(yield* found)
  if (entry !== undefined) return entry
  const nearest = parts === undefined ? [] : yield* catalog.nearestQualified(parts.handle, parts.toolName)
  return yield* new ToolNotFound({ tool: name, nearest })
})

const termsView = (terms: Terms) => ({
  price_microcents: terms.price,
  max_cost_microcents: terms.maximum,
  price: priceText(terms),
  usage_priced: isUsagePriced(terms),
  free_tier_calls: terms.freeTierCalls,
  billing_policy: terms.billingPolicy,
  ...cancellationView(terms)
})

export const cancellationView = (terms: Pick<Terms, "cancellation">) => {
  const { canceledCallCosts, onCancel } = cancellationOf(terms.cancellation)
  return { on_cancel: onCancel, canceled_call_costs: canceledCallCosts }
}

export const pricingView = (entry: CatalogEntry) => ({
  model: entry.provider.pricingModel,
  price_cents: toCents(entry.price),
  ...termsView(entry),
  price_version: entry.priceVersion,
  free_tier_limit: entry.freeTierCalls,
  // The list is public, so it does not show one consumer's remaining calls.
  free_tier_remaining: entry.freeTierCalls,
  upcoming: upcomingView(entry.prices)
})

export const upcomingView = ({ inEffect, upcoming }: ToolPrices) =>
  upcoming === undefined
    ? null
    : {
        price_version: upcoming.version,
        ...termsView(upcoming),
        output_schema_changes:
          upcoming.outputSchema !== undefined && !judgesTheSame(inEffect.outputSchema, upcoming.outputSchema),
        ...fieldsOf(upcoming, "announcedAt", "effectiveFrom")
      }

const priceSince = (price: PriceVersion) => ({
  version: price.version,
  ...termsView(price),
  effective_from: format(price.effectiveFrom)
})

const versionSummary = ({ changed, changedAt, source, version }: ToolVersion) => ({
  version,
  changed: changed.map(wireName),
  source,
  changed_at: format(changedAt)
})

export const versionView = (version: ToolVersion) => {
  const { annotations } = version.definition
  return {
    ...versionSummary(version),
    ...fieldsOf(version.definition, "displayName", "description", "inputSchema", "outputSchema"),
    annotations: annotations === undefined ? null : annotationsView(annotations)
  }
}

/** The field's name in the API. */
export const wireName = (field: string): string => RENAMED[field] ?? Text.camelToSnake(field)

const RENAMED: Readonly<Record<string, string>> = { price: "price_microcents", maxCost: "max_cost_microcents" }
