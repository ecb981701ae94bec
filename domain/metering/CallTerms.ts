/**
 * The terms of a call: the amount reserved, the deadline, and what the finished call costs.
 */
import { Context, Duration, Effect } from "effect"
import { qualifiedName } from "../accounts/Handle.ts"
import type { CatalogEntry } from "../catalog/CatalogStore.ts"
import { type CancellationTerm, isUsagePriced } from "../catalog/Terms.ts"
import type { BillingPolicy } from "../catalog/Tool.ts"
import { Microcents, zero } from "../shared/Microcents.ts"
import { REPORTED_COST_META } from "../upstream/Protocol.ts"
import type { CallStatus, ToolResult } from "../upstream/ToolUpstream.ts"
import { CapRequired, PriceChanged, PriceVersionChanged } from "./CallRejections.ts"

/** The limits of calls where a tool declares none, and the limit of all attempts together. */
export interface UpstreamBounds {
  readonly timeoutMs: number
  readonly retriesMax: number
  /** All attempts of a call, and the waits between them that the provider asks for: longer than any one attempt may take. */
  readonly totalMs: number
  /** How long a call may take whose provider reports progress, without the time of its caller. */
  readonly progressMsMax: number
  /** Calls of one account that a node forwards at once; 0: no limit. */
  readonly inFlightMax: number
}

/** Those of a service without settings. */
export const UPSTREAM_LIMITS: UpstreamBounds = {
  timeoutMs: 10_000,
  retriesMax: 1,
  totalMs: 65_000,
  progressMsMax: 300_000,
  inFlightMax: 64
}

/** The longest time-out of an attempt that a tool may set. */
export const TOOL_TIMEOUT_MS_MAX = 60_000

/**
 * The limits of calls. Default: 10 seconds and one retry for tools that set none of their own, 65 seconds for all attempts,
 * 5 minutes with progress, and 64 calls of an account at once.
 */
export const UpstreamLimits = Context.Reference<UpstreamBounds>("agent-tool-billing/domain/metering/UpstreamLimits", {
  defaultValue: () => UPSTREAM_LIMITS
})

/** After this, a call that was not settled is due for the sweeper. */
export const SETTLE_GRACE = Duration.seconds(30)
const SETTLE_GRACE_MS = Duration.toMillis(SETTLE_GRACE)

export interface Agreement {
  /** The maximum cost that the caller accepts: the lowest cap that it sent with the call, wherever it sent one. */
  readonly maxCost: Microcents | undefined
  /**
   * The cap of the key, else of the account. It replaces `maxCost` for usage-priced tools only: the price of a fixed-price
   * tool is known to the caller, and a forgotten default must not make such calls fail.
   */
  readonly defaultCap?: Microcents | undefined
  /** The price version that the caller was quoted. */
  readonly priceVersion?: number | undefined
}

/**
 * The amount to reserve: the price, or for a usage-priced tool its maximum, limited by the caller's cap; never less than the
 * list price. A usage-priced call without a cap is rejected, because the provider alone determines its cost.
 */
export const holdFor = (
  entry: CatalogEntry,
  agreement: Agreement
): Effect.Effect<Microcents, CapRequired | PriceChanged | PriceVersionChanged> =>
  capOf(entry, agreement) === undefined && isUsagePriced(entry)
    ? Effect.fail(
        new CapRequired({
          toolName: qualifiedName(entry.provider.handle, entry.tool.toolName),
          maxCostMicrocents: entry.maximum,
          priceMicrocents: entry.price
        })
      )
    : quotedHoldFor(entry, agreement)

/** As `holdFor`, for a quote, which needs no cap. */
export const quotedHoldFor = (
  entry: CatalogEntry,
  agreement: Agreement
): Effect.Effect<Microcents, PriceChanged | PriceVersionChanged> => {
  const { maximum, price, priceVersion } = entry
  if (agreement.priceVersion !== undefined && agreement.priceVersion !== priceVersion) {
    return Effect.fail(
      new PriceVersionChanged({
        named: agreement.priceVersion,
        priceVersion,
        priceMicrocents: price,
        maxCostMicrocents: maximum
      })
    )
  }
  const cap = capOf(entry, agreement)
  if (cap === undefined) return Effect.succeed(maximum)
  if (cap < price) {
    return Effect.fail(new PriceChanged({ priceMicrocents: price, maxCostMicrocents: cap, priceVersion }))
  }
  return Effect.succeed(cap < maximum ? cap : maximum)
}

const capOf = (entry: CatalogEntry, { defaultCap, maxCost }: Agreement): Microcents | undefined =>
  maxCost ?? (isUsagePriced(entry) ? defaultCap : undefined)

export const upstreamMsOf = (timeoutMs: number, { retriesMax, totalMs }: UpstreamBounds): number =>
  Math.max(timeoutMs * (retriesMax + 1), totalMs)

/** From the opening of a call to its deadline, which is not before the upstream gives up. */
export const deadlineMsOf = (timeoutMs: number, limits: UpstreamBounds): number =>
  upstreamMsOf(timeoutMs, limits) + SETTLE_GRACE_MS

/** The same where the provider reports progress: the most that the deadline is moved to. */
export const longestMsOf = (timeoutMs: number, limits: UpstreamBounds): number =>
  Math.max(upstreamMsOf(timeoutMs, limits), limits.progressMsMax) + SETTLE_GRACE_MS

/** In the result's `_meta`, beside `REPORTED_COST_META`, which has precedence. */
export const REPORTED_COST_FIELD = "market/cost_microcents"

/** In the request's `_meta`: the maximum charge of a usage-priced call. */
export const MAX_COST_FIELD = "market/max_cost_microcents"

interface Delivered {
  readonly status: CallStatus
  readonly policy: BillingPolicy
  readonly held: Microcents
  /** The list price: what a call costs unless the provider reports another amount. */
  readonly price: Microcents
  readonly free: boolean
  /** At least one attempt reached the provider. */
  readonly attempted: boolean
  readonly result: ToolResult | undefined
  /** Undefined where the tool has no output schema, or there is no output to check. */
  readonly outputFits: boolean | undefined
}

/**
 * What a finished call costs. By default only a success is charged; a tool's published policy may require output that fits
 * its schema, or charge every attempt. A provider may report the actual cost, billed up to the amount reserved.
 */
export const billedAmount = (call: Delivered): Microcents => {
  if (call.free || !costsMoney(call)) return zero
  const wanted = reportedCost(call.result) ?? call.price
  return wanted < call.held ? wanted : call.held
}

/** For a call whose cancellation was passed to the provider: by the terms in effect, at most the amount reserved. */
export const canceledAmount = (
  cancellation: CancellationTerm,
  price: Microcents,
  { free, held }: Pick<Delivered, "free" | "held">
): Microcents => {
  if (free || cancellation === "free") return zero
  return price < held ? price : held
}

const costsMoney = (call: Delivered): boolean => {
  if (call.policy === "attempt") return call.attempted
  if (call.status !== "success") return false
  return call.policy === "success" || call.outputFits === true
}

/** A non-negative integer in the result's `_meta`; any other value is ignored. */
const reportedCost = (result: ToolResult | undefined): Microcents | undefined => {
  const meta = result?.["_meta"]
  if (typeof meta !== "object" || meta === null) return undefined
  const fields = meta as Readonly<Record<string, unknown>>
  return costOf(fields[REPORTED_COST_META]) ?? costOf(fields[REPORTED_COST_FIELD])
}

const costOf = (value: unknown): Microcents | undefined =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? Microcents.make(BigInt(value)) : undefined
