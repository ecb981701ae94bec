/**
 * Decodes path, query and body by the schemas of the endpoint, or says what is wrong with them. Decoders are built once.
 */
import { Effect, Exit, Result, type Schema, SchemaAST, type SchemaIssue, SchemaParser } from "effect"
import type { HttpApiEndpoint } from "effect/http-api"
import { guessOf, nearestName } from "../../../domain/shared/NearestName.ts"
import { fieldNames, otherFieldsOf, wireOf } from "../contract/OtherFields.ts"
import { BadRequest, type Fault, FAULTS_MAX, PathRejected, ValidationFailed } from "./Failures.ts"
import { faultsOf, isObject, meantMember, shapeOf } from "./FaultSentences.ts"

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

type Path = ReadonlyArray<string | number>
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
