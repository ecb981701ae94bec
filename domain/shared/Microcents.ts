/**
 * Money as exact integers: one cent is 10,000 microcents, one US dollar 1,000,000. Never a float.
 */
import { Effect, Schema, SchemaGetter, SchemaIssue } from "effect"

/** 10,000: one dollar is 1,000,000 microcents. */
export const MICROCENTS_PER_CENT = 10_000n
export const MICROCENTS_PER_DOLLAR = 1_000_000n

/** A larger JSON integer is rejected in requests and never sent. */
export const MICROCENTS_MAX = BigInt(Number.MAX_SAFE_INTEGER)

export const Microcents = Schema.BigInt.check(
  Schema.isGreaterThanOrEqualToBigInt(0n),
  Schema.isLessThanOrEqualToBigInt(MICROCENTS_MAX)
).pipe(Schema.brand("Microcents"))
export type Microcents = typeof Microcents.Type

/** No money: the start of a sum. */
export const zero: Microcents = Microcents.make(0n)

/** Returns undefined if all are. */
export const lowestOf = (...amounts: ReadonlyArray<Microcents | undefined>): Microcents | undefined =>
  amounts.reduce(
    (low, amount) => (low === undefined || (amount !== undefined && amount < low) ? amount : low),
    undefined
  )

/** The wire has a JSON integer; `"500"`, 150.5, -1 and 2^53 are rejected. */
export const MicrocentsFromInt = Schema.Int.check(
  Schema.isGreaterThanOrEqualTo(0),
  Schema.isLessThanOrEqualTo(Number.MAX_SAFE_INTEGER)
).pipe(
  Schema.decodeTo(Microcents, {
    decode: SchemaGetter.transform((n: number) => Microcents.make(BigInt(n))),
    encode: SchemaGetter.transformEffect((n: bigint, options) =>
      n <= MICROCENTS_MAX
        ? Effect.succeed(Number(n))
        : Effect.fail(new SchemaIssue.InvalidValue({ message: "too large for a JSON integer" }, n, options))
    )
  })
)

/** The amount of whole cents. */
export const fromCents = (cents: number): Microcents => Microcents.make(BigInt(cents) * MICROCENTS_PER_CENT)

/** Whole cents, rounded toward zero: for display, never for calculations. */
export const toCents = (amount: bigint): number => Number(amount / MICROCENTS_PER_CENT)

const group = (digits: string): string => digits.replace(/\B(?=(\d{3})+$)/gu, ",")

/** `$1,234.56`: whole cents, rounded toward zero. */
export const formatDollars = (amount: bigint): string => {
  const sign = amount < 0n ? "-" : ""
  const cents = (amount < 0n ? -amount : amount) / MICROCENTS_PER_CENT
  return `${sign}$${group(String(cents / 100n))}.${String(cents % 100n).padStart(2, "0")}`
}

/** An exact amount: as many decimal places as it needs, at least two. */
export const formatAmount = (amount: bigint): string => {
  const absolute = amount < 0n ? -amount : amount
  const fraction = String(absolute % MICROCENTS_PER_DOLLAR)
    .padStart(6, "0")
    .replace(/0{1,4}$/u, "")
  return `${amount < 0n ? "-" : ""}$${group(String(absolute / MICROCENTS_PER_DOLLAR))}.${fraction}`
}

/** A price per call: an exact amount, or `Free`. */
export const formatPrice = (amount: bigint): string => (amount === 0n ? "Free" : formatAmount(amount))

/** Dollars as typed by a user; undefined for text that is no amount, or is finer than a microcent. */
export const parseDollars = (text: string): Microcents | undefined => {
  const parts = /^\$?(\d{1,9})(?:\.(\d{1,6}))?$/u.exec(text.trim().replaceAll(",", ""))
  return parts === null
    ? undefined
    : Microcents.make(BigInt(parts[1]!) * MICROCENTS_PER_DOLLAR + BigInt((parts[2] ?? "").padEnd(6, "0")))
}
