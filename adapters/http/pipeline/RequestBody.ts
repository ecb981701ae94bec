/**
 * Turns bytes into a JSON value, or into a sentence about what is wrong with them.
 */
import { Effect } from "effect"
import { stringEnd } from "../../../domain/shared/JsonText.ts"
import { LONG_TEXT_CHARS_MIN, ownTurn } from "../../../domain/shared/OwnTurn.ts"
import { subjectOf } from "./Decoding.ts"
import {
  BadRequest,
  type Fault,
  FAULTS_MAX,
  type PayloadTooLarge,
  UnsupportedMediaType,
  ValidationFailed
} from "./Failures.ts"
import { header, type WebRequest } from "./WebRequest.ts"

export interface BodyRules {
  readonly bytesMax: number
  readonly depthMax: number
  /** Nothing of the body is stored, so text that a database would reject is accepted. */
  readonly anyText: boolean
  /** A POST without a body means the defaults. */
  readonly emptyIsObject: boolean
}

export const BODY_BYTES_MAX = 1_048_576
export const JSON_DEPTH_MAX = 64
export const storedBody: BodyRules = {
  bytesMax: BODY_BYTES_MAX,
  depthMax: JSON_DEPTH_MAX,
  anyText: false,
  emptyIsObject: true
}

const decoder = new TextDecoder("utf-8", { fatal: true })

/** The text of the body, validated as UTF-8 and JSON by its content type. */
export const readText = Effect.fnUntraced(function* (
  request: WebRequest,
  bytesMax: number
): Effect.fn.Return<string, BadRequest | PayloadTooLarge | UnsupportedMediaType> {
  const type = header(request, "content-type")
  if (type !== undefined && !isJson(type)) return yield* new UnsupportedMediaType({ given: type.slice(0, 100) })
  const bytes = yield* request.body(bytesMax)
  if (type === undefined && bytes.length > 0) return yield* new UnsupportedMediaType({ given: "no content type" })
  if (bytes.length >= LONG_TEXT_CHARS_MIN) yield* ownTurn
  return yield* textOf(bytes)
})

const textOf = (bytes: Uint8Array): Effect.Effect<string, BadRequest> => {
  try {
    return Effect.succeed(decoder.decode(bytes))
  } catch {
    return Effect.fail(new BadRequest({ reason: "The body is not valid UTF-8." }))
  }
}

export const parseJson = (text: string, rules: BodyRules): Effect.Effect<unknown, BadRequest | ValidationFailed> =>
  text.length < LONG_TEXT_CHARS_MIN ? parsed(text, rules) : Effect.flatMap(ownTurn, () => parsed(text, rules))

const parsed = (text: string, rules: BodyRules): Effect.Effect<unknown, BadRequest | ValidationFailed> => {
  if (rules.emptyIsObject && text.trim() === "") return Effect.succeed({})
  const { depth, hasLargeNumber } = shapeOf(text)
  if (depth > rules.depthMax) {
    return Effect.fail(new BadRequest({ reason: `The body is nested deeper than ${rules.depthMax} levels.` }))
  }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return Effect.fail(new BadRequest({ reason: "The body is not valid JSON." }))
  }
  if (hasLargeNumber && hasInfinity(value)) {
    return Effect.fail(new BadRequest({ reason: "The body has a number beyond what JSON numbers can be here." }))
  }
  if (rules.anyText || !SUSPICIOUS_ESCAPE.test(text)) return Effect.succeed(value)
  const faults = faultsIn(value, notStorable)
  return faults.length === 0 ? Effect.succeed(value) : Effect.fail(new ValidationFailed({ faults }))
}

const isJson = (type: string): boolean => {
  if (type === "application/json") return true
  const media = type.split(";", 1)[0]!.trim().toLowerCase()
  return media === "application/json" || (media.startsWith("application/") && media.endsWith("+json"))
}

interface Shape {
  /** How deep brackets nest. */
  readonly depth: number
  /** A number with an exponent, or a very long one: only those may be parsed as infinite, which JSON cannot represent. */
  readonly hasLargeNumber: boolean
}

const LARGE_DIGITS = 300

/**
 * One pass that skips strings, because every request pays for it. It runs before `JSON.parse`, so that deeply nested
 * brackets are cheap to reject.
 */
const shapeOf = (text: string): Shape => {
  let depth = 0
  let deepest = 0
  let digits = 0
  let hasLargeNumber = false
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i)
    if (char >= 0x30 && char <= 0x39) {
      if (++digits === LARGE_DIGITS) hasLargeNumber = true
    } else {
      if (digits > 0 && (char === 0x65 || char === 0x45)) hasLargeNumber = true
      digits = 0
      if (char === 0x22) i = stringEnd(text, i) - 1
      else if (char === 0x7b || char === 0x5b) deepest = Math.max(deepest, ++depth)
      else if (char === 0x7d || char === 0x5d) depth--
    }
  }
  return { depth: deepest, hasLargeNumber }
}

const hasInfinity = (value: unknown): boolean => {
  if (typeof value === "number") return !Number.isFinite(value)
  if (typeof value !== "object" || value === null) return false
  return Array.isArray(value) ? value.some(hasInfinity) : Object.values(value).some(hasInfinity)
}

/** In valid UTF-8 JSON, only an escape can contain a NUL or half a surrogate pair. */
const SUSPICIOUS_ESCAPE = /\\u(?:0000|[dD][89a-fA-F])/u

const notStorable: FaultOf = (value, path) =>
  typeof value === "string" && (value.includes("\0") || !value.isWellFormed())
    ? `${subjectOf(path, "The body")} must have no NUL characters and no unpaired surrogates.`
    : undefined

const LONG_DIGITS = /\d{16}/u
const LONG_DIGITS_CHARS = 16
const INTEGER = /^-?\d+$/u
const SHOWN_CHARS_MAX = 40
/** Of a string that stands for a rounded integer. Another string with it is a fault of a body that is rejected anyway. */
const MARK = "\0rounded:"

/**
 * Rejects integers beyond 2^53 - 1, which JSON parsing rounds: a tool would get another id than its caller sent, and the
 * call would be billed. Takes valid JSON text.
 */
export const rejectRounded = (text: string): Effect.Effect<void, ValidationFailed> => {
  if (!LONG_DIGITS.test(text)) return Effect.void
  return text.length < LONG_TEXT_CHARS_MIN ? withoutRounded(text) : Effect.flatMap(ownTurn, () => withoutRounded(text))
}

const withoutRounded = (text: string): Effect.Effect<void, ValidationFailed> => {
  const marked = withMarks(text)
  return marked === undefined
    ? Effect.void
    : Effect.fail(new ValidationFailed({ faults: faultsIn(JSON.parse(marked), wasRounded) }))
}

/**
 * With the first of these integers as marked strings; undefined if there are none. A reviver of `JSON.parse` takes a second for a
 * megabyte of small values.
 */
const withMarks = (text: string): string | undefined => {
  let marked = ""
  let from = 0
  let count = 0
  for (let i = 0; i < text.length && count < FAULTS_MAX; i++) {
    if (text.charCodeAt(i) === 0x22) i = stringEnd(text, i) - 1
    else if (isOfNumber(text.charCodeAt(i))) {
      let end = i + 1
      while (isOfNumber(text.charCodeAt(end))) end++
      if (end - i >= LONG_DIGITS_CHARS) {
        const number = text.slice(i, end)
        if (INTEGER.test(number) && !Number.isSafeInteger(Number(number))) {
          marked += text.slice(from, i) + JSON.stringify(MARK + number)
          from = end
          count++
        }
      }
      i = end - 1
    }
  }
  return count === 0 ? undefined : marked + text.slice(from)
}

/** Of digits, signs, a point or an exponent. The letter also occurs in `true` and `false`. */
const isOfNumber = (char: number): boolean =>
  (char >= 0x30 && char <= 0x39) || char === 0x2d || char === 0x2e || char === 0x2b || char === 0x45 || char === 0x65

const wasRounded: FaultOf = (value, path) => {
  if (typeof value !== "string" || !value.startsWith(MARK)) return undefined
  const source = value.slice(MARK.length)
  const shown = source.length > SHOWN_CHARS_MAX ? `${source.slice(0, SHOWN_CHARS_MAX)}…` : source
  const subject = subjectOf(path, "The body")
  return `${subject} must be no integer beyond 2^53 - 1; \`${shown}\` was sent. Send it as a string.`
}

type Path = ReadonlyArray<string | number>
type FaultOf = (value: unknown, path: Path) => string | undefined

/** The first ones. */
const faultsIn = (root: unknown, faultOf: FaultOf): ReadonlyArray<Fault> => {
  const faults: Array<Fault> = []
  const path: Array<string | number> = []
  const visit = (step: string | number, value: unknown): void => {
    path.push(step)
    visitHere(value)
    path.pop()
  }
  const visitHere = (value: unknown): void => {
    const message = faultOf(value, path)
    if (message !== undefined) return void faults.push({ path: [...path], message })
    if (typeof value !== "object" || value === null) return
    if (Array.isArray(value)) {
      for (const [index, item] of value.entries()) {
        if (faults.length >= FAULTS_MAX) return
        visit(index, item)
      }
      return
    }
    for (const [key, item] of Object.entries(value)) {
      if (faults.length >= FAULTS_MAX) return
      visit("(a key)", key)
      visit(key.toWellFormed().replaceAll("\0", ""), item)
    }
  }
  visitHere(root)
  return faults
}
