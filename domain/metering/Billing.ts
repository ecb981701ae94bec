/**
 * The cost of a finished call. By default only a success is charged; a tool's published policy may require output that fits
 * its schema, or charge every attempt. A provider may report the actual cost, billed up to the amount reserved.
 */
import type { CancellationTerm } from "../catalog/CancellationTerm.ts"
import type { BillingPolicy } from "../catalog/Tool.ts"
import { Microcents, zero } from "../shared/Microcents.ts"
import type { CallStatus, ToolResult } from "./ToolUpstream.ts"

export const REPORTED_COST_FIELD = "market/cost_microcents"

/** In the request's `_meta`: the maximum charge of a usage-priced call. */
export const MAX_COST_FIELD = "market/max_cost_microcents"

export interface Delivered {
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

export const billedAmount = (call: Delivered): Microcents => {
  if (call.free || !costsMoney(call)) return zero
  const wanted = reportedCost(call.result) ?? call.price
  return wanted < call.held ? wanted : call.held
}

/** For a call whose cancellation was passed to the provider: by the terms in effect, at most the amount reserved. */
export const canceledAmount = (
  leaving: CancellationTerm,
  price: Microcents,
  { free, held }: Pick<Delivered, "free" | "held">
): Microcents => {
  if (free || leaving === "free") return zero
  return price < held ? price : held
}

const costsMoney = (call: Delivered): boolean => {
  if (call.policy === "attempt") return call.attempted
  if (call.status !== "success") return false
  return call.policy === "success" || call.outputFits === true
}

/** A non-negative integer in the result's `_meta`; any other value is ignored. */
export const reportedCost = (result: ToolResult | undefined): Microcents | undefined => {
  const meta = result?.["_meta"]
  if (typeof meta !== "object" || meta === null) return undefined
  const cost = (meta as Readonly<Record<string, unknown>>)[REPORTED_COST_FIELD]
  return typeof cost === "number" && Number.isSafeInteger(cost) && cost >= 0 ? Microcents.make(BigInt(cost)) : undefined
}
