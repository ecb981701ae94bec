/**
 * The small schemas that wire bodies are made of: bounded texts, amounts, and plain non-negative integers in queries.
 */
import { DateTime, Schema, SchemaGetter } from "effect"
import { Microcents } from "../../../domain/shared/Microcents.ts"
import { PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX, PAGE_OFFSET_MAX } from "../../../domain/shared/Page.ts"

/** Text for people: trimmed, not blank, bounded. */
export const Name = (charsMax: number) =>
  Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(charsMax)).pipe(
    Schema.decodeTo(Schema.String.check(Schema.isNonEmpty({ message: "must not be blank" })), {
      decode: SchemaGetter.transform((text: string) => text.trim()),
      encode: SchemaGetter.transform((text: string) => text)
    })
  )

export const Text = (charsMax: number) => Schema.String.check(Schema.isMaxLength(charsMax))

const EMAIL =
  /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*@([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/u

/** Trimmed and in lower case; with a dot in the domain and no doubled, leading or trailing one. */
export const Email = Schema.String.check(Schema.isMaxLength(254)).pipe(
  Schema.decodeTo(
    Schema.String.check(Schema.isPattern(EMAIL, { message: "must be an e-mail address such as ada@example.org" })),
    {
      decode: SchemaGetter.transform((text: string) => text.trim().toLowerCase()),
      encode: SchemaGetter.transform((text: string) => text)
    }
  ),
  Schema.annotateEncoded({ format: "email", examples: ["ada@example.org"] })
)

export const WholeCents = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0), Schema.isLessThanOrEqualTo(100_000_000))

const RFC_3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/u
const INSTANT_EXPECTED = "must be a time such as 2026-11-20T10:11:12Z"

/** A point in time that a caller names: ISO 8601. */
export const Instant = Schema.String.check(Schema.isPattern(RFC_3339, { message: INSTANT_EXPECTED })).pipe(
  Schema.decodeTo(
    // Beyond the year 9999 it could not be shown again in the form that everything here is shown in.
    Schema.DateTimeUtcFromString.check(
      Schema.makeFilter((instant) => (/^\d{4}-/u.test(DateTime.formatIso(instant)) ? undefined : INSTANT_EXPECTED))
    )
  ),
  Schema.annotateEncoded({ format: "date-time" })
)

/** So long that no number that somebody means is refused for its length. */
const LIMIT_DIGITS_MAX = 100

/** A query value: digits only, so that `-1`, `1e3`, `0x10`, ` 5` and `5.0` are refused. */
const Digits = (charsMax: number, message: string) =>
  Schema.String.check(Schema.isPattern(new RegExp(`^\\d{1,${charsMax}}$`, "u"), { message }))

const bounded = (min: number, max: number) => {
  const message = `must be an integer between ${min} and ${max}, in digits only`
  return Digits(Math.max(10, String(max).length), message).pipe(
    Schema.decodeTo(
      Schema.Int.check(Schema.makeFilter((value: number) => (value >= min && value <= max ? undefined : message))),
      {
        decode: SchemaGetter.transform((text: string) => Number(text)),
        encode: SchemaGetter.transform((value: number) => String(value))
      }
    ),
    // What the digits stand for, to those who read the OpenAPI document.
    Schema.annotateEncoded({ "x-integer": { minimum: min, maximum: max } })
  )
}

export const WholeNumber = bounded

/** An amount in a query. */
export const MicrocentsQuery = bounded(0, Number.MAX_SAFE_INTEGER).pipe(
  Schema.decodeTo(Microcents, {
    decode: SchemaGetter.transform((value: number) => Microcents.make(BigInt(value))),
    encode: SchemaGetter.transform((amount: bigint) => Number(amount))
  })
)

const LIMIT_EXPECTED = "must be an integer of at least 1, in digits only"

/** How many items a page has at most: whoever asks for more than there may be gets as many as there may be. */
export const LimitUpTo = (max: number) =>
  Digits(LIMIT_DIGITS_MAX, LIMIT_EXPECTED).pipe(
    Schema.decodeTo(Schema.Int.check(Schema.makeFilter((value: number) => (value >= 1 ? undefined : LIMIT_EXPECTED))), {
      decode: SchemaGetter.transform((text: string) => Math.min(Number(text), max)),
      encode: SchemaGetter.transform((value: number) => String(value))
    }),
    Schema.annotateEncoded({
      "x-integer": { minimum: 1 },
      description: `Items a page: ${PAGE_LIMIT_DEFAULT} if absent. More than ${max} counts as ${max}.`
    })
  )
export const Limit = LimitUpTo(PAGE_LIMIT_MAX)
export const Offset = bounded(0, PAGE_OFFSET_MAX).pipe(
  Schema.annotateEncoded({ description: "How many items to leave out. A cursor stays right while items are added." })
)
export const Cursor = Schema.String.check(
  Schema.isPattern(/^[A-Za-z0-9_-]{1,600}$/u, { message: "must be the `next_cursor` of the page before" })
).annotate({
  description: "`next_cursor` of the page before."
})

export const pageQuery = {
  limit: Schema.optionalKey(Limit),
  offset: Schema.optionalKey(Offset),
  cursor: Schema.optionalKey(Cursor)
}

/** Two-place display text such as `$12.34`, or `Free`. */
export const Display = Schema.String

/** In a path the slash of a qualified name is sent as `%2F`. */
export const ToolIdOrName = Schema.String.check(
  Schema.isPattern(/^(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[a-z0-9-]{3,32}\/[A-Za-z0-9_./-]{1,128})$/u, {
    message: "must be a UUID in lower case, the tool's id, or its qualified name with the slash as %2F"
  })
)
