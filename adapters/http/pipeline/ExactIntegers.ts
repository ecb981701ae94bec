/**
 * Rejects integers beyond 2^53 - 1, which JSON parsing rounds: a tool would get another id than its caller sent, and the
 * call would be billed.
 */
import { Effect } from "effect"
import { type Fault, ValidationFailed } from "./Failures.ts"
import { subjectOf } from "./FaultSentences.ts"

const LONG_DIGITS = /\d{16}/u
const INTEGER = /^-?\d+$/u
const SHOWN_CHARS_MAX = 40

class Rounded {
  readonly source: string
  constructor(source: string) {
    this.source = source
  }
}

/** Takes valid JSON text. */
export const rejectRounded = (text: string): Effect.Effect<void, ValidationFailed> => {
  if (!LONG_DIGITS.test(text)) return Effect.void
  const faults = roundedIn(JSON.parse(text, marking), [])
  return faults.length === 0 ? Effect.void : Effect.fail(new ValidationFailed({ faults }))
}

const marking = (_key: string, value: unknown, context?: { readonly source?: string }): unknown =>
  typeof value === "number" && !Number.isSafeInteger(value) && INTEGER.test(context?.source ?? "")
    ? new Rounded(context!.source!)
    : value

const roundedIn = (value: unknown, path: ReadonlyArray<string | number>): ReadonlyArray<Fault> => {
  if (value instanceof Rounded) {
    const { source } = value
    const shown = source.length > SHOWN_CHARS_MAX ? `${source.slice(0, SHOWN_CHARS_MAX)}…` : source
    const subject = subjectOf(path, "The body")
    return [
      { path, message: `${subject} must be no integer beyond 2^53 - 1; \`${shown}\` was sent. Send it as a string.` }
    ]
  }
  if (Array.isArray(value)) return value.flatMap((item, index) => roundedIn(item, [...path, index]))
  if (typeof value !== "object" || value === null) return []
  return Object.entries(value).flatMap(([key, item]) => roundedIn(item, [...path, key]))
}
