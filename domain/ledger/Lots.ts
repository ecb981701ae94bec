/**
 * A provider's money is divided into lots, one per settlement day (UTC): the net earnings of the calls settled on that
 * day, minus what was taken from them. Every posting that takes money from a provider names the lots, so no lot goes
 * below zero.
 */
import { DateTime } from "effect"
import type { Balance } from "./Account.ts"

/** A provider's earnings of one settlement day. They mature and are paid out together. */
export interface Lot extends Balance {
  /** `2026-11-22`, UTC. */
  readonly day: string
  /** The net earnings of the calls themselves, without amounts returned to the lot later. */
  readonly earned: bigint
}

/** A part of a lot that a posting takes or returns. */
export interface LotPart {
  readonly day: string
  readonly amount: bigint
}

/** The most lots that one posting takes from; the next one takes the rest. */
export const LOTS_PER_POSTING_MAX = 400

/** The lot of a call settled at this time. */
export const lotDayOf = (settledAt: DateTime.Utc): string => DateTime.formatIsoDateUtc(settledAt)

/** The part of the lot that was not taken yet. */
export const remainingIn = (lot: Lot): bigint => lot.credits - lot.debits

export const totalOfParts = (parts: ReadonlyArray<LotPart>): bigint =>
  parts.reduce((sum, part) => sum + part.amount, 0n)

/** Takes up to `amount` from the parts in their order. */
export const takeFrom = (parts: ReadonlyArray<LotPart>, amount: bigint): ReadonlyArray<LotPart> => {
  const taken: Array<LotPart> = []
  let missing = amount
  for (const part of parts) {
    if (missing <= 0n || taken.length === LOTS_PER_POSTING_MAX) break
    const take = part.amount < missing ? part.amount : missing
    if (take <= 0n) continue
    taken.push({ day: part.day, amount: take })
    missing -= take
  }
  return taken
}

/** One part per day, in the order in which the days first appear. */
export const mergedParts = (parts: ReadonlyArray<LotPart>): ReadonlyArray<LotPart> => {
  const byDay = new Map<string, bigint>()
  for (const { amount, day } of parts) byDay.set(day, (byDay.get(day) ?? 0n) + amount)
  return [...byDay].map(([day, amount]) => ({ day, amount }))
}
