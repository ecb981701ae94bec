/**
 * The terms of a tool: everything that decides what a call costs. These are price, maximum, billing policy, the output
 * schema where the policy bills by it, the cost of a canceled call, and free calls per month. Each change is a price version
 * with a number and the time from which it is in effect.
 */
import { Context, type DateTime, Duration, Schema } from "effect"
import type { PricingModel } from "../accounts/Account.ts"
import { sameJson } from "../shared/JsonText.ts"
import { formatPrice, type Microcents, zero } from "../shared/Microcents.ts"
import type { BillingPolicy, JsonSchemaObject, ToolDeclaration } from "./Tool.ts"

/**
 * The price of a forwarded call whose caller cancels or disconnects. A provider sends two fields; together they are one
 * of these terms: `free` (the cancellation is passed to the provider and the call is free), `outcome` (the call runs to
 * its end and is billed by its outcome), or `price` (the cancellation is passed and the call costs its list price).
 */
export const CancellationTerm = Schema.Literals(["free", "outcome", "price"])
export type CancellationTerm = typeof CancellationTerm.Type

type Cancellation = Pick<ToolDeclaration, "canceledCallCosts" | "onCancel">

export const cancellationTermOf = ({ canceledCallCosts, onCancel }: Cancellation): CancellationTerm => {
  if (onCancel === "finish") return "outcome"
  return canceledCallCosts === "price" ? "price" : "free"
}

/** The name of the term in stored tasks and sealed states, which nodes of other versions read as well. */
export const STORED_CANCELLATION = "leaving"

/** The two fields of this term. */
export const cancellationOf = (term: CancellationTerm): Cancellation => ({
  onCancel: term === "outcome" ? "finish" : "pass",
  canceledCallCosts: term === "free" ? "nothing" : "price"
})

export interface Terms {
  /** The list price: what a call costs unless the provider reports another amount. */
  readonly price: Microcents
  /** The most that one call may cost; never below the price. Above it, the tool is usage-priced. */
  readonly maximum: Microcents
  readonly freeTierCalls: number
  readonly billingPolicy: BillingPolicy
  /** The schema that `valid_output` judges by. The history of versions, which is permanent, omits it. */
  readonly outputSchema?: JsonSchemaObject
  readonly cancellation: CancellationTerm
}

/** Terms with the time from which they apply. A call is billed by the version in effect when it was opened. */
export interface PriceVersion extends Terms {
  readonly version: number
  readonly announcedAt: DateTime.Utc
  readonly effectiveFrom: DateTime.Utc
  /** The time when it was replaced, or the tool withdrawn, before it took effect. It never applies. */
  readonly replacedAt: DateTime.Utc | undefined
}

/** Versions of one tool. At most one is announced and not in effect. */
export interface ToolPrices {
  readonly inEffect: PriceVersion
  readonly upcoming: PriceVersion | undefined
  /** The highest number used. A replaced version's number is not reused: a caller may have named it. */
  readonly lastVersion: number
}

export const isUsagePriced = ({ maximum, price }: Pick<Terms, "maximum" | "price">): boolean => maximum > price

/** `$0.05`, `up to $900.00`, or `Free` if no call can cost anything. */
export const priceText = (terms: Pick<Terms, "maximum" | "price">): string =>
  isUsagePriced(terms) ? `up to ${formatPrice(terms.maximum)}` : formatPrice(terms.price)

export const termsOf = ({
  billingPolicy,
  cancellation,
  freeTierCalls,
  maximum,
  outputSchema,
  price
}: Terms): Terms => ({
  price,
  maximum,
  freeTierCalls,
  billingPolicy,
  ...(outputSchema === undefined ? {} : { outputSchema }),
  cancellation
})

/** An announced version takes effect exactly at its time, on every node, whatever is stored or cached. */
export const pricesAt = (prices: ToolPrices, nowMs: number): ToolPrices =>
  prices.upcoming === undefined || prices.upcoming.effectiveFrom.epochMilliseconds > nowMs
    ? prices
    : { ...prices, inEffect: prices.upcoming, upcoming: undefined }

export const sameTerms = (a: Terms, b: Terms): boolean => noWorse(a, b) && noWorse(b, a)

/** No consumer pays more under `a` than under `b`, whatever its calls are. Any other change needs notice. */
export const noWorse = (a: Terms, b: Terms): boolean =>
  a.price <= b.price &&
  a.maximum <= b.maximum &&
  a.freeTierCalls >= b.freeTierCalls &&
  billsNoMore(a, b) &&
  cancelsNoWorse(a, b)

/**
 * Takes for each term the better one for the consumer, never worse than `a`. If neither is better for callers that
 * disconnect, or neither output schema is, those of `a` stay.
 */
export const better = (a: Terms, b: Terms): Terms => {
  const { billingPolicy, outputSchema } = billsNoMore(b, a) ? b : a
  const best: Terms = {
    price: a.price < b.price ? a.price : b.price,
    maximum: a.maximum < b.maximum ? a.maximum : b.maximum,
    freeTierCalls: Math.max(a.freeTierCalls, b.freeTierCalls),
    billingPolicy,
    ...(outputSchema === undefined ? {} : { outputSchema }),
    cancellation: b.cancellation
  }
  return cancelsNoWorse(best, a) ? best : { ...best, cancellation: a.cancellation }
}

/**
 * A canceled call costs its list price whatever its outcome is. The outcome of a usage-priced call may cost up to the
 * maximum, which is more.
 */
const cancelsNoWorse = (a: Terms, b: Terms): boolean =>
  a.cancellation === "outcome" && b.cancellation === "price"
    ? a.maximum <= b.price
    : TERM_RANK[a.cancellation] <= TERM_RANK[b.cancellation]

/** Whether one schema accepts less than another cannot be computed, so a schema bills no more only if it judges the same. */
const billsNoMore = (a: Terms, b: Terms): boolean =>
  CHARGED[a.billingPolicy] < CHARGED[b.billingPolicy] ||
  (a.billingPolicy === b.billingPolicy &&
    (a.billingPolicy !== "valid_output" || judgesTheSame(a.outputSchema, b.outputSchema)))

/** Both schemas accept the same outputs, because they differ at most in texts. */
export const judgesTheSame = (a: JsonSchemaObject | undefined, b: JsonSchemaObject | undefined): boolean =>
  sameJson(withoutTexts(a), withoutTexts(b))

/**
 * Omits titles, descriptions and comments, where they are texts of a schema and not members of a value: a property may
 * be named `title`. Other annotations stay, since a `$ref` may refer to a schema in them.
 */
const withoutTexts = (schema: unknown): unknown => {
  if (Array.isArray(schema)) return schema.map(withoutTexts)
  if (typeof schema !== "object" || schema === null) return schema
  return Object.fromEntries(
    Object.entries(schema).flatMap(([keyword, value]: [string, unknown]) => {
      if (TEXTS.has(keyword) && typeof value === "string") return []
      if (SCHEMAS.has(keyword)) return [[keyword, withoutTexts(value)]]
      if (!NAMED_SCHEMAS.has(keyword) || typeof value !== "object" || value === null) return [[keyword, value]]
      return [[keyword, Object.fromEntries(Object.entries(value).map(([name, one]) => [name, withoutTexts(one)]))]]
    })
  )
}

const TEXTS: ReadonlySet<string> = new Set(["title", "description", "$comment"])
/** Keywords whose value is a schema or a list of schemas. */
const SCHEMAS: ReadonlySet<string> = new Set([
  "items",
  "prefixItems",
  "additionalProperties",
  "allOf",
  "anyOf",
  "oneOf",
  "not",
  "if",
  "then",
  "else"
])
const NAMED_SCHEMAS: ReadonlySet<string> = new Set(["properties", "patternProperties", "$defs", "definitions"])

/** What is charged under a policy is also charged under every policy of a higher rank. */
const CHARGED: Readonly<Record<BillingPolicy, number>> = { valid_output: 0, success: 1, attempt: 2 }

/** The costs of callers that disconnect, in ascending order. */
const TERM_RANK: Readonly<Record<CancellationTerm, number>> = { free: 0, outcome: 1, price: 2 }

// The price of a call: the tool's price, otherwise its provider's default, otherwise nothing; its maximum; the free
// calls per month; and the cost of a canceled call.

/**
 * The terms that apply where a provider decides nothing, and when changes of its tools take effect. Default: no free
 * calls, 24 hours of notice and of grace, 3 seconds for an endpoint.
 */
export interface CatalogPolicy {
  /** Free calls per consumer, tool and calendar month (UTC) if the provider sets none. */
  readonly freeTierCalls: number
  /** The time between the announcement of terms that charge callers more and their effect. Zero: they apply at once. */
  readonly priceNotice: Duration.Duration
  /** The time from the first sync whose list lacks a tool until the tool is withdrawn. */
  readonly withdrawalGrace: Duration.Duration
  /** The time that an endpoint has to say what it is. Zero: endpoints are not asked. */
  readonly probeTimeout: Duration.Duration
}

/** Those of a service without settings that takes payments. */
export const CATALOG_POLICY: CatalogPolicy = {
  freeTierCalls: 0,
  priceNotice: Duration.hours(24),
  withdrawalGrace: Duration.hours(24),
  probeTimeout: Duration.seconds(3)
}

export const CatalogPolicy = Context.Reference<CatalogPolicy>("agent-tool-billing/domain/catalog/CatalogPolicy", {
  defaultValue: () => CATALOG_POLICY
})

export const FREE_TIER_CALLS_MAX = 1_000_000_000

export const effectivePrice = (
  toolPrice: Microcents | undefined,
  provider: { readonly pricingModel: PricingModel; readonly defaultPrice: Microcents }
): Microcents => toolPrice ?? (provider.pricingModel === "free" ? zero : provider.defaultPrice)

/** The output schema as a term: where it decides what is billed. */
export const billedSchemaOf = (
  billingPolicy: BillingPolicy,
  outputSchema: JsonSchemaObject | undefined
): Pick<Terms, "outputSchema"> =>
  billingPolicy !== "valid_output" || outputSchema === undefined ? {} : { outputSchema }

/** A maximum below the price has no effect. */
export const declaredTerms = (
  declared: Pick<
    ToolDeclaration,
    "billingPolicy" | "canceledCallCosts" | "freeTierCalls" | "maxCost" | "onCancel" | "outputSchema" | "price"
  >,
  provider: { readonly pricingModel: PricingModel; readonly defaultPrice: Microcents },
  defaultFreeTierCalls: number
): Terms => {
  const price = effectivePrice(declared.price, provider)
  return {
    price,
    maximum: declared.maxCost !== undefined && declared.maxCost > price ? declared.maxCost : price,
    freeTierCalls: declared.freeTierCalls ?? defaultFreeTierCalls,
    billingPolicy: declared.billingPolicy,
    ...billedSchemaOf(declared.billingPolicy, declared.outputSchema),
    cancellation: cancellationTermOf(declared)
  }
}
