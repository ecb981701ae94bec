/**
 * Schemas of what clients send: bounded text, amounts, integers in queries, pages, and the idempotency header.
 */
import { DateTime, Schema, SchemaAST, SchemaGetter, SchemaTransformation } from "effect"
import { IDEMPOTENCY_KEY_CHARS_MAX } from "../../../domain/shared/Idempotency.ts"
import { Microcents } from "../../../domain/shared/Microcents.ts"
import { PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX, PAGE_OFFSET_MAX } from "../../../domain/shared/Page.ts"
import { isPlainLine, isPlainText, withNewlines } from "../../../domain/shared/PlainText.ts"
import * as Field from "./Field.ts"
import { DEMO_TOOL } from "./SampleValues.ts"

// Unknown fields of a body are rejected, unless its schema has this annotation.

const KEY = "agent-tool-billing/otherFields"

/** `names`: the other fields that are accepted; any by default. */
export const takesOtherFields = (names = /^/u) => ({ [KEY]: names })

/** Returns undefined if no other field is accepted. */
export const otherFieldsOf = (ast: SchemaAST.AST): RegExp | undefined => SchemaAST.resolveAt<RegExp>(KEY)(ast)

/** The wire form. */
export const wireOf = (ast: SchemaAST.AST): SchemaAST.AST =>
  ast.encoding === undefined ? ast : SchemaAST.toEncoded(ast)

/** The names of a struct's fields. */
export const fieldNames = (schema: Schema.Top): ReadonlyArray<string> =>
  SchemaAST.isObjects(schema.ast) ? schema.ast.propertySignatures.map(({ name }) => String(name)) : []

/** A text that only the service reads, such as a search. */
export const Bounded = (charsMax: number) => Schema.String.check(Schema.isMaxLength(charsMax))

const Given = (charsMax: number) => Bounded(charsMax).check(Schema.isMinLength(1))

const isNotBlank = Schema.isNonEmpty({ message: "must not be blank" })

/** One line, as names and titles are: trimmed, not blank. */
export const Name = (charsMax: number) =>
  Given(charsMax).pipe(Schema.decodeTo(Schema.String.check(isNotBlank, isPlainLine), SchemaTransformation.trim()))

/** One line, which may be empty. */
export const Line = (charsMax: number) => Bounded(charsMax).check(isPlainLine)

const cleaned = (clean: (text: string) => string) => ({
  decode: SchemaGetter.transform(clean),
  encode: SchemaGetter.transform((text: string) => text)
})

/** A description: lines of text. */
export const Text = (charsMax: number) =>
  Bounded(charsMax).pipe(Schema.decodeTo(Schema.String.check(isPlainText), cleaned(withNewlines)))

/** A description that must be given: trimmed, not blank. */
export const Note = (charsMax: number) =>
  Given(charsMax).pipe(
    Schema.decodeTo(
      Schema.String.check(isNotBlank, isPlainText),
      cleaned((text) => withNewlines(text).trim())
    )
  )

const EMAIL =
  /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*@([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/u

/** Trimmed and lowercased; the domain has a dot, none of them doubled, leading or trailing. */
export const Email = Schema.String.check(Schema.isMaxLength(254)).pipe(
  Schema.decodeTo(
    Schema.String.check(Schema.isPattern(EMAIL, { message: "must be an email address such as ada@example.org" })),
    {
      decode: SchemaGetter.transform((text: string) => text.trim().toLowerCase()),
      encode: SchemaGetter.transform((text: string) => text)
    }
  ),
  Schema.annotateEncoded({ format: "email", examples: ["ada@example.org"] })
)

/**
 * An object of a request body. What it contains was parsed from JSON, so it is not checked again to be JSON: for a megabyte of
 * small values that takes half a second.
 */
export const JsonObject = Schema.declare(
  (value): value is Schema.JsonObject => typeof value === "object" && value !== null && !Array.isArray(value),
  {
    expected: "an object",
    toCodecJson: () => new SchemaAST.Link(ANY_OBJECT.ast, SchemaTransformation.passthrough<Schema.JsonObject>())
  }
)
const ANY_OBJECT = Schema.Record(Schema.String, Schema.Json)

/** The bounds are inclusive. */
export const IntBetween = (min: number, max: number) =>
  Schema.Int.check(Schema.isGreaterThanOrEqualTo(min), Schema.isLessThanOrEqualTo(max))

export const WholeCents = IntBetween(0, 100_000_000)

const RFC_3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/u
const INSTANT_EXPECTED = "must be a time such as 2026-11-20T10:11:12Z"

/** A time that a client sends: ISO 8601. */
export const Instant = Schema.String.check(Schema.isPattern(RFC_3339, { message: INSTANT_EXPECTED })).pipe(
  Schema.decodeTo(
    // A year after 9999 has no four-digit form.
    Schema.DateTimeUtcFromString.check(
      Schema.makeFilter((instant) => (/^\d{4}-/u.test(DateTime.formatIso(instant)) ? undefined : INSTANT_EXPECTED))
    )
  ),
  Schema.annotateEncoded({ format: "date-time" })
)

/** Long enough for any number. */
const LIMIT_DIGITS_MAX = 100

/** A query value of digits only: rejects `-1`, `1e3`, `0x10`, ` 5` and `5.0`. */
const Digits = (charsMax: number, message: string) =>
  Schema.String.check(Schema.isPattern(new RegExp(`^\\d{1,${charsMax}}$`, "u"), { message }))

export const WholeNumber = (min: number, max: number) => {
  const message = `must be an integer between ${min} and ${max}, in digits only`
  return Digits(Math.max(10, String(max).length), message).pipe(
    Schema.decodeTo(
      Schema.Int.check(Schema.makeFilter((value: number) => (value >= min && value <= max ? undefined : message))),
      SchemaTransformation.numberFromString
    ),
    // Shown as an integer in the OpenAPI document.
    Schema.annotateEncoded({ "x-integer": { minimum: min, maximum: max } })
  )
}

/** An amount in a query. */
export const MicrocentsQuery = WholeNumber(0, Number.MAX_SAFE_INTEGER).pipe(
  Schema.decodeTo(Microcents, {
    decode: SchemaGetter.transform((value: number) => Microcents.make(BigInt(value))),
    encode: SchemaGetter.transform((amount: bigint) => Number(amount))
  })
)

const LIMIT_EXPECTED = "must be an integer of at least 1, in digits only"

/** Page size. A larger number is not rejected: it counts as the maximum. */
const LimitUpTo = (max: number) =>
  Digits(LIMIT_DIGITS_MAX, LIMIT_EXPECTED).pipe(
    Schema.decodeTo(Schema.Int.check(Schema.makeFilter((value: number) => (value >= 1 ? undefined : LIMIT_EXPECTED))), {
      decode: SchemaGetter.transform((text: string) => Math.min(Number(text), max)),
      encode: SchemaGetter.transform((value: number) => String(value))
    }),
    Schema.annotateEncoded({ "x-integer": { minimum: 1 } })
  )

const Cursor = Schema.String.check(
  Schema.isPattern(/^[A-Za-z0-9_-]{1,600}$/u, { message: "must be the `next_cursor` of the page before" })
)

export const pageQueryUpTo = (max: number) => ({
  limit: Field.optional(
    LimitUpTo(max),
    `Maximum number of items per page. Default ${PAGE_LIMIT_DEFAULT}; a value above ${max} counts as ${max}.`
  ),
  offset: Field.optional(
    WholeNumber(0, PAGE_OFFSET_MAX),
    "Number of items to skip. Use `cursor` instead where items are added while you read."
  ),
  cursor: Field.optional(Cursor, "`next_cursor` of the previous page.")
})

export const pageQuery = pageQueryUpTo(PAGE_LIMIT_MAX)

/** In a path the slash of a qualified name is sent as `%2F`. */
export const toolIdOrName = Field.of(
  Schema.String.check(
    Schema.isPattern(/^(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[a-z0-9-]{3,32}\/[A-Za-z0-9_./-]{1,128})$/u, {
      message: "must be a UUID in lower case, the tool's id, or its qualified name with the slash as %2F"
    })
  ),
  "ID of the tool, or its qualified name with the slash as `%2F`.",
  DEMO_TOOL
)

export const WebUrl = Line(2_000).check(
  Schema.makeFilter((text: string) => {
    const protocol = URL.parse(text)?.protocol
    return protocol === "https:" || protocol === "http:" ? undefined : "must be an http or https URL"
  })
)

export const idempotencyHeader = {
  "idempotency-key": Field.optional(
    Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(IDEMPOTENCY_KEY_CHARS_MAX)),
    "Key that makes the request safe to retry. Same key and body: the stored response with `Idempotent-Replay: true`. " +
      "Same key and another body: 409. A registration without an API key is not replayed: 409."
  )
}
