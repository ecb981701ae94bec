/**
 * A consumer's permission for a provider to bill calls that did not pass through the proxy, and the reservations in it.
 */
import { DateTime } from "effect"
import type { ConsumerId, GrantId, ProviderId, ReceiptId, ToolId } from "../shared/Ids.ts"
import type { Microcents } from "../shared/Microcents.ts"

/** When the spent part of a grant starts at zero again. `total` never does. */
export type GrantPeriod = "day" | "month" | "total"

export interface Grant {
  readonly id: GrantId
  readonly consumerId: ConsumerId
  readonly providerId: ProviderId
  /** Empty: all of the provider's tools. */
  readonly toolIds: ReadonlyArray<ToolId>
  readonly cap: Microcents
  readonly period: GrantPeriod
  readonly expiresAt: DateTime.Utc | undefined
  readonly revokedAt: DateTime.Utc | undefined
  readonly createdAt: DateTime.Utc
  /** In the period that starts at `periodStart`. */
  readonly spent: bigint
  readonly periodStart: DateTime.Utc
}

/** Counted as spent while the final cost of the call is unknown. */
export interface Reservation {
  readonly consumerId: ConsumerId
  readonly invocationId: ReceiptId
  readonly grantId: GrantId
  readonly amount: Microcents
  /** The start of the period that the amount counts in. */
  readonly periodStart: DateTime.Utc
  readonly reservedAt: DateTime.Utc
}

/** Revoked and expired grants are unlimited in number: the newest of them are shown. */
export const DEAD_GRANTS_SHOWN_MAX = 200

export const isLive = (grant: Grant, now: DateTime.Utc): boolean =>
  grant.revokedAt === undefined && (grant.expiresAt === undefined || DateTime.isGreaterThan(grant.expiresAt, now))

export const covers = (grant: Grant, toolId: ToolId): boolean =>
  grant.toolIds.length === 0 || grant.toolIds.includes(toolId)

export const periodStart = (period: GrantPeriod, now: DateTime.Utc): DateTime.Utc =>
  period === "total" ? DateTime.makeUnsafe(0) : DateTime.startOf(now, period)

/** The current period. Never an earlier one than recorded: the clock of another node may be behind. */
export const currentStart = (grant: Grant, now: DateTime.Utc): DateTime.Utc =>
  DateTime.max(grant.periodStart, periodStart(grant.period, now))

/** What counts against the cap now. Spending of an earlier period does not count. */
export const spentNow = (grant: Grant, now: DateTime.Utc): bigint =>
  DateTime.isLessThan(grant.periodStart, currentStart(grant, now)) ? 0n : grant.spent
