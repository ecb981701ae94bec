/**
 * Decodes path, query and body by the schemas of the endpoint, or says what is wrong with them. Decoders are built once.
 */
import { Effect, Exit, Option, Result, Schema, SchemaAST, SchemaIssue, SchemaParser } from "effect"
import { Base64Url } from "effect/encoding"
import type { HttpApiEndpoint } from "effect/http-api"
import { guessOf, nearestName } from "../../../domain/shared/NearestName.ts"
import { type Page, PAGE_LIMIT_DEFAULT, type PageRequest, type Position } from "../../../domain/shared/Page.ts"
import { fieldNames, otherFieldsOf, wireOf } from "../contract/OtherFields.ts"
import { BadRequest, type Fault, FAULTS_MAX, PathRejected, ValidationFailed } from "./Failures.ts"

// Describes the JSON that a schema expects, in words: "an integer between 100 and 100000", "one of `day`, `month`, `total`".
// It never contains the name of an internal type.

export const kindOf = (ast: SchemaAST.AST): string => {
  const wire = wireOf(ast)
  const limits = limitsOf(wire)
  const { expected } = limits
  if (expected !== undefined) return expected
  switch (wire._tag) {
    case "String":
      return `a string${rangeText(limits.minLength, limits.maxLength, "character")}`
    case "Number":
      return `${limits.isInteger ? "an integer" : "a number"}${betweenText(limits.minimum, limits.maximum)}`
    case "Boolean":
      return "`true` or `false`"
    case "Null":
      return "`null`"
    case "Literal":
      return `\`${String(wire.literal)}\``
    case "Arrays":
      return `an array${rangeText(limits.minLength, limits.maxLength, "item")}`
    case "Objects":
      return "an object"
    case "Union":
      return choiceOf(wire)
    case "Declaration":
      return wire === Schema.Json.ast ? "JSON" : String(wire.annotations?.["expected"] ?? "JSON")
    default:
      return "JSON"
  }
}

const choiceOf = ({ types }: SchemaAST.Union): string => {
  const literals = types.filter(SchemaAST.isLiteral).map(kindOf)
  const kinds = new Set(types.filter((type) => !SchemaAST.isLiteral(type)).map(kindOf))
  const literal = literals.length > 1 ? [`one of ${literals.join(", ")}`] : literals
  return [...literal, ...kinds].join(" or ")
}

/** By the names that Effect's own checks note them under. */
interface Limits {
  /** From the first check that has a message. */
  expected?: string
  isInteger: boolean
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
}

/** The message of a check that has its own. */
export const messageOf = (annotations: { readonly message?: unknown } | undefined): string | undefined =>
  typeof annotations?.message === "string" ? annotations.message : undefined

const MUST_BE = "must be "

const limitsOf = ({ checks }: SchemaAST.AST): Limits => {
  const limits: Limits = { isInteger: false }
  for (const { annotations } of (checks ?? []).flatMap(flat)) {
    const message = messageOf(annotations)
    if (message?.startsWith(MUST_BE) === true) limits.expected ??= message.slice(MUST_BE.length)
    const noted = annotations?.["representation"] as { readonly id: string; readonly payload?: object } | undefined
    if (noted?.id === "effect/schema/isInt") limits.isInteger = true
    Object.assign(limits, noted?.payload)
  }
  return limits
}

const flat = (check: SchemaAST.Check<unknown>): ReadonlyArray<SchemaAST.Check<unknown>> =>
  check._tag === "FilterGroup" ? check.checks.flatMap(flat) : [check]

const betweenText = (min: number | undefined, max: number | undefined): string => {
  if (min !== undefined && max !== undefined) return ` between ${min} and ${max}`
  if (min !== undefined) return ` of at least ${min}`
  return max === undefined ? "" : ` of at most ${max}`
}

const rangeText = (min: number | undefined, max: number | undefined, unit: string): string => {
  if (min !== undefined && max !== undefined) return ` of ${min} to ${max} ${unit}s`
  if (min !== undefined) return ` of at least ${min} ${unit}${min === 1 ? "" : "s"}`
  return max === undefined ? "" : ` of at most ${max} ${unit}${max === 1 ? "" : "s"}`
}

// What is wrong with a value, in sentences for the client: the field, what it must be, and what was sent. The message of a
// schema check begins with "must" and continues after the field's name, or is a complete sentence. Names of internal types
// are never shown.

type Path = ReadonlyArray<string | number>

const CHARS_SHOWN_MAX = 60

/** `whole`: the name of the value that contains the fields. */
export const faultsOf = (issue: SchemaIssue.Issue, whole: string): ReadonlyArray<Fault> => {
  const faults = new Map<string, Fault>()
  for (const { path, predicate, sent } of faultsAt(issue, [], undefined)) {
    const message = sentenceOf(subjectOf(path, whole), predicate, sent)
    faults.set(`${path.join("\n")}\n${message}`, { path, message })
    if (faults.size === FAULTS_MAX) break
  }
  return [...faults.values()]
}

/** `tools[1].price_microcents` */
export const subjectOf = (path: Path, whole: string): string => {
  const [first, ...others] = path.map((part) => String(part).slice(0, CHARS_SHOWN_MAX))
  if (first === undefined) return whole
  return `\`${others.reduce((name, part) => (/^\d+$/u.test(part) ? `${name}[${part}]` : `${name}.${part}`), first)}\``
}

interface Found {
  readonly path: Path
  readonly predicate: string
  /** Absent where the sentence does not show it. */
  readonly sent?: string | undefined
}

/** `ast`: the expected type of the value at the path. */
const faultsAt = (issue: SchemaIssue.Issue, path: Path, ast: SchemaAST.AST | undefined): ReadonlyArray<Found> => {
  switch (issue._tag) {
    case "Pointer":
      return faultsAt(issue.issue, [...path, ...issue.path.map(keyOf)], undefined)
    case "Encoding":
      return faultsAt(issue.issue, path, issue.ast)
    case "Filter":
      return faultsAt(issue.issue, path, ast).map((found) => {
        const message = messageOf(issue.filter.annotations) ?? found.predicate
        return { ...found, predicate: message }
      })
    case "Composite":
      return issue.issues.flatMap((one) => faultsAt(one, path, issue.ast))
    case "AnyOf":
      return faultsOfUnion(issue, path)
    case "MissingKey":
      return [{ path, predicate: "is required." }]
    case "InvalidType":
      return [{ path, predicate: `must be ${kindOf(issue.ast)}`, sent: shown(issue, '"') }]
    case "InvalidValue": {
      const predicate = messageOf(issue.annotations) ?? (ast === undefined ? "is not valid" : `must be ${kindOf(ast)}`)
      return [{ path, predicate, sent: shown(issue) }]
    }
    default:
      return [{ path, predicate: "is not valid", sent: shown(issue) }]
  }
}

/** For a union of objects: the faults of the member that the value matches best. */
const faultsOfUnion = (issue: SchemaIssue.AnyOf, path: Path): ReadonlyArray<Found> => {
  if (issue.issues.length === 0) return [{ path, predicate: `must be ${kindOf(issue.ast)}`, sent: shown(issue) }]
  const index = meantMember(issue.ast.types)(issue.input)
  const meant = index === undefined ? undefined : issue.ast.types[index]
  const own = issue.issues.filter((one) => meant !== undefined && "ast" in one && one.ast === meant)
  if (own.length > 0) return own.flatMap((one) => faultsAt(one, path, undefined))
  if (meant !== undefined) return faultsAsIf(meant, issue.input, path)
  return issue.issues.slice(0, 1).flatMap((one) => faultsAt(one, path, undefined))
}

/** The decoder skipped this member, because one of its constants differs. */
const faultsAsIf = (ast: SchemaAST.AST, value: unknown, path: Path): ReadonlyArray<Found> => {
  const schema = Schema.make<Schema.Decoder<unknown>>(ast)
  const result = SchemaParser.decodeUnknownResult(schema, { errors: "all", reportInput: true })(value)
  return Result.isFailure(result) ? faultsAt(result.failure, path, undefined) : []
}

const keyOf = (key: PropertyKey): string | number => (typeof key === "number" ? key : String(key))

const sentenceOf = (subject: string, predicate: string, sent: string | undefined): string => {
  if (predicate === "is required.") return `${subject} is required.`
  if (/^[A-Z`]/u.test(predicate)) return predicate
  const sentence = `${capital(subject)} ${predicate}`
  return sent === undefined ? `${sentence}.` : `${sentence}; ${sent} was sent.`
}

const capital = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`

/**
 * Only for values with a short representation. `quote`: shows that a string was sent where its text looks like another type.
 */
const shown = (issue: SchemaIssue.Issue, quote = ""): string | undefined => {
  if (!SchemaIssue.hasInput(issue)) return undefined
  const { input } = issue
  switch (typeof input) {
    case "string":
      if (input.trim() === "") return input === "" ? "an empty string" : "a blank string"
      return `\`${quote}${input.length > CHARS_SHOWN_MAX ? `${input.slice(0, CHARS_SHOWN_MAX)}…` : input}${quote}\``
    case "number":
    case "boolean":
      return `\`${input}\``
    case "object":
      return input === null ? "`null`" : Array.isArray(input) ? "an array" : "an object"
    default:
      return undefined
  }
}

interface Shape {
  readonly known: ReadonlySet<string>
  readonly required: ReadonlyArray<string>
  readonly others: RegExp | undefined
}

export const shapeOf = (ast: SchemaAST.AST, wire: SchemaAST.Objects): Shape => ({
  known: new Set(wire.propertySignatures.map(({ name }) => String(name))),
  required: wire.propertySignatures.flatMap(({ name, type }) => (SchemaAST.isOptional(type) ? [] : [String(name)])),
  others: otherFieldsOf(ast)
})

/** For a union of objects: the index of the member with the fewest missing or unknown fields. */
export const meantMember = (types: ReadonlyArray<SchemaAST.AST>): ((value: unknown) => number | undefined) => {
  const shapes = types.map((type) => {
    const wire = wireOf(type)
    return SchemaAST.isObjects(wire) ? shapeOf(type, wire) : undefined
  })
  const only = shapes.filter((shape) => shape !== undefined).length === 1 ? shapes.findIndex(Boolean) : undefined
  return (value) => {
    if (!isObject(value)) return undefined
    if (only !== undefined) return only
    const misfits = shapes.map((shape) => (shape === undefined ? Infinity : misfitsOf(shape, value)))
    const index = misfits.indexOf(Math.min(...misfits))
    return shapes[index] === undefined ? undefined : index
  }
}

const misfitsOf = ({ known, others, required }: Shape, value: Readonly<Record<string, unknown>>): number => {
  let misfits = 0
  for (const name of required) if (!Object.hasOwn(value, name)) misfits++
  for (const name of Object.keys(value)) if (!known.has(name) && others?.test(name) !== true) misfits++
  return misfits
}

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

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

/** For documents: only those of the API are strict. */
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
/** For names sent by a client. */
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

export const encodeCursor = (list: string, position: Position): string =>
  Base64Url.encode(JSON.stringify([list, position.key, position.id]))

export const decodeCursor = (list: string, cursor: string): Effect.Effect<Position, BadRequest> => {
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
