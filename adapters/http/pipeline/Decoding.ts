/**
 * Decodes path, query and body by the schemas of the endpoint, or says what is wrong with them; pages by opaque cursors;
 * reads bodies as JSON within limits, and rejects integers that JSON would round. Decoders are built once.
 */
import { Effect, Exit, Option, Result, Schema, SchemaAST, type SchemaIssue, SchemaParser } from "effect"
import { Base64Url } from "effect/encoding"
import type { HttpApiEndpoint } from "effect/http-api"
import { isObject, stringEnd } from "../../../domain/shared/JsonText.ts"
import { guessOf, nearestName } from "../../../domain/shared/NearestName.ts"
import { LONG_TEXT_CHARS_MIN, ownTurn } from "../../../domain/shared/OwnTurn.ts"
import { type Page, PAGE_LIMIT_DEFAULT, type PageRequest, type Position } from "../../../domain/shared/Page.ts"
import { fieldNames, otherFieldsOf, wireOf } from "../contract/InputSchemas.ts"
import {
  BadRequest,
  type Fault,
  FAULTS_MAX,
  faultsOf,
  meantMember,
  type Path,
  PathRejected,
  type PayloadTooLarge,
  shapeOf,
  subjectOf,
  UnsupportedMediaType,
  ValidationFailed
} from "./Failures.ts"
import { header, type WebRequest } from "./WebRequest.ts"

/** Undefined for a part that the endpoint does not declare: it costs nothing then. */
export interface Decoding {
  readonly decodeParams: ((params: unknown) => Effect.Effect<unknown, PathRejected>) | undefined
  /** Takes the text after the `?`. */
  readonly decodeQuery: ((query: string) => Effect.Effect<unknown, BadRequest | ValidationFailed>) | undefined
  decodePayload(body: unknown): Effect.Effect<unknown, ValidationFailed>
}

/**
 * `payload`: the schema that decodes the body. It is the contract's own, except where parts of the body are validated
 * separately.
 */
export const decodingOf = (endpoint: HttpApiEndpoint.Top, payload: Schema.Top | undefined): Decoding => {
  const { params, path, query } = endpoint
  return {
    decodeParams: params === undefined ? undefined : paramsDecoder(params),
    decodeQuery: queryDecoder(path, query, payload),
    decodePayload: payload === undefined ? () => Effect.undefined : payloadDecoder(payload)
  }
}

const paramsDecoder = (schema: Schema.Top) => {
  const { decode } = decoderOf(schema, "the path")
  return (params: unknown) => Effect.mapErrorEager(decode(params), (faults) => new PathRejected({ faults }))
}

/**
 * Strict only under /api: an unknown parameter of a page or a probe cannot cost money. Not strict where any body is
 * accepted: such requests come from machines that cannot be corrected.
 */
const queryDecoder = (
  path: string,
  schema: Schema.Top | undefined,
  payload: Schema.Top | undefined
): Decoding["decodeQuery"] => {
  const isOpen = !isApi(path) || (payload !== undefined && takesAnyBody(payload))
  if (schema === undefined) return isOpen ? undefined : noQuery
  const known = isOpen ? undefined : new Set(fieldNames(schema))
  const { decode } = decoderOf(schema, "the query")
  return (query) =>
    Effect.flatMapEager(parseQuery(query, known), (values) => Effect.mapErrorEager(decode(values), badQuery))
}

const takesAnyBody = (payload: Schema.Top): boolean =>
  unknownFields(payload) === undefined || otherFieldsOf(payload.ast) !== undefined

/** Only documents of the API are strict. */
export const documentQuery = (path: string): Decoding["decodeQuery"] => (isApi(path) ? noQuery : undefined)

const isApi = (path: string): boolean => /^\/api(?:\/|$)/u.test(path)

const NO_NAMES: ReadonlySet<string> = new Set()
const noQuery = (query: string) => (query === "" ? Effect.undefined : parseQuery(query, NO_NAMES))

const badQuery = (faults: ReadonlyArray<Fault>): BadRequest =>
  new BadRequest({ reason: faults.map(({ message }) => message).join(" "), faults })

/** Reports every unknown field and every other fault. */
export const payloadDecoder = (schema: Schema.Top): Decoding["decodePayload"] => {
  const unknownIn = unknownFields(schema)
  const { decode, faultsIn } = decoderOf(schema, "the body")
  const invalid = (faults: ReadonlyArray<Fault>) => new ValidationFailed({ faults })
  return (body) => {
    const unknown = unknownIn?.(body)
    if (unknown === undefined || unknown.length === 0) return Effect.mapErrorEager(decode(body), invalid)
    const paths = new Set(unknown.map(pathText))
    const others = faultsIn(body).filter((fault) => !paths.has(pathText(fault)))
    return Effect.fail(invalid([...unknown, ...others].slice(0, FAULTS_MAX)))
  }
}

const pathText = ({ path }: Fault): string => JSON.stringify(path)

/** Collecting all faults is slow even for valid input, so it runs only after the fast decoder has rejected the input. */
const decoderOf = (schema: Schema.Top, whole: string) => {
  const quick = SchemaParser.decodeUnknownEffect(schema) as (
    input: unknown
  ) => Effect.Effect<unknown, SchemaIssue.Issue>
  const collectAll = SchemaParser.decodeUnknownResult(schema as Synchronous, { errors: "all", reportInput: true })
  const faultsIn = (input: unknown): ReadonlyArray<Fault> => {
    const result = collectAll(input)
    return Result.isFailure(result) ? faultsOf(result.failure, whole) : []
  }
  const decode = (input: unknown): Effect.Effect<unknown, ReadonlyArray<Fault>> => {
    const done = quick(input)
    return Exit.isExit(done) && Exit.isSuccess(done) ? Effect.succeed(done.value) : Effect.fail(faultsIn(input))
  }
  return { decode, faultsIn }
}

/** No schema of the contract is asynchronous: decoding is synchronous. */
type Synchronous = Schema.Top & { readonly DecodingServices: never }

/** Campaign parameters that other sites append to links. */
const IGNORED = /^utm_/u

/**
 * The query as plain text by name. Unknown parameters are rejected: if a misspelled filter were ignored, the response would
 * show everything. A repeated one is ambiguous. `known` undefined: a page takes any parameter.
 */
export const parseQuery = (
  query: string,
  known: ReadonlySet<string> | undefined
): Effect.Effect<Readonly<Record<string, string>>, BadRequest | ValidationFailed> => {
  if (query === "") return Effect.succeed({})
  const values: Record<string, string> = {}
  const unknown = new Set<string>()
  let doubled: string | undefined
  for (const [name, value] of new URLSearchParams(query)) {
    if (IGNORED.test(name)) continue
    if (known?.has(name) === false) unknown.add(name)
    else if (Object.hasOwn(values, name)) doubled ??= name
    else Object.defineProperty(values, name, { value, enumerable: true })
  }
  if (unknown.size > 0) {
    const faults = [...unknown]
      .slice(0, FAULTS_MAX)
      .map((name) => ({ path: [name], message: unknownName("query parameter", name, known!) }))
    return Effect.fail(new ValidationFailed({ faults }))
  }
  if (doubled !== undefined) {
    return Effect.fail(new BadRequest({ reason: `\`${doubled}\` is there more than once. Send it once.` }))
  }
  return Effect.succeed(values)
}

type Report = (path: Path, known: ReadonlySet<string>) => void
type Check = (value: unknown, path: Path, report: Report) => void

const NONE: ReadonlyArray<Fault> = []
const NAME_CHARS_SHOWN_MAX = 100
const NAMES_SHOWN_MAX = 30

/**
 * One fault per field that the schema does not define: a misspelled limit would otherwise have no effect. Undefined where the
 * schema accepts any field. Fields are read from the schema once; a request costs one lookup per field.
 */
const unknownFields = (schema: Schema.Top): ((body: unknown) => ReadonlyArray<Fault>) | undefined => {
  const check = checkOf(schema.ast)
  if (check === undefined) return undefined
  return (body) => {
    let faults: Array<Fault> | undefined
    check(body, NONE_YET, (path, known) => {
      faults ??= []
      if (faults.length < FAULTS_MAX) faults.push({ path, message: unknownName("field", String(path.at(-1)), known) })
    })
    return faults ?? NONE
  }
}

const NONE_YET: Path = []

/** "Unknown field `dry_runn`. Did you mean `dry_run`?" */
const unknownName = (kind: "field" | "query parameter", name: string, known: ReadonlySet<string>): string => {
  const begin = `Unknown ${kind} \`${name.slice(0, NAME_CHARS_SHOWN_MAX)}\`.`
  const nearest = nearestName(name, known)
  if (nearest !== undefined) return begin + guessOf([nearest])
  if (known.size === 0) return `${begin} No ${kind} is taken here.`
  const names = [...known].slice(0, NAMES_SHOWN_MAX).map((one) => `\`${one}\``)
  return `${begin} Known ${kind}s: ${names.join(", ")}${known.size > NAMES_SHOWN_MAX ? ", …" : ""}.`
}

/** Undefined where the schema accepts any field or contains no objects: JSON, records, scalars. */
const checkOf = (ast: SchemaAST.AST): Check | undefined => {
  const wire = wireOf(ast)
  if (SchemaAST.isObjects(wire)) return objectCheck(ast, wire)
  if (SchemaAST.isArrays(wire)) return itemsCheck(wire)
  if (SchemaAST.isUnion(wire)) return unionCheck(wire)
  return undefined
}

const objectCheck = (ast: SchemaAST.AST, wire: SchemaAST.Objects): Check | undefined => {
  if (isRecord(wire)) return undefined
  const fields = new Map(wire.propertySignatures.map(({ name, type }) => [String(name), checkOf(type)]))
  const { known, others } = shapeOf(ast, wire)
  return (value, path, report) => {
    if (!isObject(value)) return
    for (const name of Object.keys(value)) {
      const inner = fields.get(name)
      if (inner !== undefined) inner(value[name], [...path, name], report)
      else if (!known.has(name) && others?.test(name) !== true) report([...path, name], known)
    }
  }
}

/** Accepts any name, unless its values can only be of type never. */
const isRecord = ({ indexSignatures }: SchemaAST.Objects): boolean =>
  indexSignatures.some(({ type }) => !SchemaAST.isNever(type))

const itemsCheck = ({ rest }: SchemaAST.Arrays): Check | undefined => {
  const check = rest[0] === undefined ? undefined : checkOf(rest[0])
  if (check === undefined) return undefined
  return (value, path, report) => {
    if (Array.isArray(value)) for (const [index, item] of value.entries()) check(item, [...path, index], report)
  }
}

const unionCheck = ({ types }: SchemaAST.Union): Check | undefined => {
  const checks = types.map(checkOf)
  if (checks.every((check) => check === undefined)) return undefined
  const meant = meantMember(types)
  return (value, path, report) => {
    const index = meant(value)
    if (index !== undefined) checks[index]?.(value, path, report)
  }
}

// The opaque cursor: the end of a page, in base64url. A list with another sort order rejects it.

const Stored = Schema.fromJsonString(Schema.Tuple([Schema.String, Schema.String, Schema.String]))
const decode = Schema.decodeUnknownOption(Stored)

const encodeCursor = (list: string, position: Position): string =>
  Base64Url.encode(JSON.stringify([list, position.key, position.id]))

const decodeCursor = (list: string, cursor: string): Effect.Effect<Position, BadRequest> => {
  const text = Base64Url.decodeString(cursor)
  const stored = Result.isSuccess(text) ? decode(text.success) : Option.none()
  if (Option.isNone(stored) || stored.value[0] !== list) {
    return Effect.fail(new BadRequest({ reason: "`cursor` must be the `next_cursor` of this same list." }))
  }
  return Effect.succeed({ key: stored.value[1], id: stored.value[2] })
}

export const pageRequest = (
  list: string,
  query: {
    readonly limit?: number | undefined
    readonly offset?: number | undefined
    readonly cursor?: string | undefined
  }
): Effect.Effect<PageRequest, BadRequest> => {
  const limit = query.limit ?? PAGE_LIMIT_DEFAULT
  const offset = query.offset ?? 0
  if (query.cursor === undefined) return Effect.succeed({ limit, offset, after: undefined })
  if (query.offset !== undefined) {
    return Effect.fail(new BadRequest({ reason: "Send either `cursor` or `offset`, not both." }))
  }
  return Effect.map(decodeCursor(list, query.cursor), (after) => ({ limit, offset, after }))
}

export const pageFields = <A>(list: string, request: PageRequest, page: Page<A>) => ({
  total: page.total,
  limit: request.limit,
  offset: request.offset,
  next_cursor: page.next === undefined ? null : encodeCursor(list, page.next)
})

// Turns bytes into a JSON value, or into a sentence about what is wrong with them.

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
export const readText = (
  request: WebRequest,
  bytesMax: number
): Effect.Effect<string, BadRequest | PayloadTooLarge | UnsupportedMediaType> => {
  const type = header(request, "content-type")
  if (type !== undefined && !isJson(type)) return Effect.fail(new UnsupportedMediaType({ given: type.slice(0, 100) }))
  return Effect.flatMap(request.body(bytesMax), (bytes): Effect.Effect<string, BadRequest | UnsupportedMediaType> => {
    if (type === undefined && bytes.length > 0) {
      return Effect.fail(new UnsupportedMediaType({ given: "no content type" }))
    }
    return bytes.length < LONG_TEXT_CHARS_MIN ? textOf(bytes) : Effect.flatMap(ownTurn, () => textOf(bytes))
  })
}

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
  const { depth, hasLargeNumber } = nestingOf(text)
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

interface Nesting {
  /** The depth of nested brackets. */
  readonly depth: number
  /** A number with an exponent, or a very long one: only those may be parsed as infinite, which JSON cannot represent. */
  readonly hasLargeNumber: boolean
}

const LARGE_DIGITS = 300

/**
 * One pass that skips strings, because every request pays for it. It runs before `JSON.parse`, so that deeply nested
 * brackets are cheap to reject.
 */
const nestingOf = (text: string): Nesting => {
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
/** A string with it stands for a rounded integer, or is a fault of a body that is rejected anyway. */
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
 * Returns the text with the first rounded integers as marked strings; undefined if there are none. A reviver of
 * `JSON.parse` takes a second for a megabyte of small values.
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

/** Digits, signs, a point or an exponent, whose letter also occurs in `true` and `false`. */
const isOfNumber = (char: number): boolean =>
  (char >= 0x30 && char <= 0x39) || char === 0x2d || char === 0x2e || char === 0x2b || char === 0x45 || char === 0x65

const wasRounded: FaultOf = (value, path) => {
  if (typeof value !== "string" || !value.startsWith(MARK)) return undefined
  const source = value.slice(MARK.length)
  const shown = source.length > SHOWN_CHARS_MAX ? `${source.slice(0, SHOWN_CHARS_MAX)}…` : source
  const subject = subjectOf(path, "The body")
  return `${subject} must be no integer beyond 2^53 - 1; \`${shown}\` was sent. Send it as a string.`
}

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
