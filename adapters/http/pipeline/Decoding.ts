/**
 * From the parts of a request to what its handler gets, by the endpoint's own schemas; or to what is wrong with them. All that
 * can be prepared is, once.
 */
import { Effect, Exit, Result, type Schema, type SchemaIssue, SchemaParser } from "effect"
import type { HttpApiEndpoint } from "effect/http-api"
import { fieldNames, otherFieldsOf } from "../api/OtherFields.ts"
import { BadRequest, type Fault, FAULTS_MAX, PathRefused, ValidationFailed } from "./Failures.ts"
import { faultsOf } from "./FaultSentences.ts"
import { unknownFields } from "./KnownFields.ts"
import { parseQuery } from "./Query.ts"

/** Undefined where an endpoint declares none: nothing is spent on them then. */
export interface Decoding {
  readonly decodeParams: ((params: unknown) => Effect.Effect<unknown, PathRefused>) | undefined
  /** Of the text behind the `?`. */
  readonly decodeQuery: ((query: string) => Effect.Effect<unknown, BadRequest | ValidationFailed>) | undefined
  decodePayload(body: unknown): Effect.Effect<unknown, ValidationFailed>
}

/** `payload`: what decodes the body; the contract's own, unless parts of it are judged one by one. */
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
  return (params: unknown) => Effect.mapErrorEager(decode(params), (faults) => new PathRefused({ faults }))
}

/**
 * Strict only under /api: a page or a probe costs nobody money. And not where any body is taken: those who send it are machines
 * that cannot learn.
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

/** Of a document: only those of the API are strict. */
export const documentQuery = (path: string): Decoding["decodeQuery"] => (isApi(path) ? noQuery : undefined)

const isApi = (path: string): boolean => /^\/api(?:\/|$)/u.test(path)

const NO_NAMES: ReadonlySet<string> = new Set()
const noQuery = (query: string) => (query === "" ? Effect.undefined : parseQuery(query, NO_NAMES))

const badQuery = (faults: ReadonlyArray<Fault>): BadRequest =>
  new BadRequest({ reason: faults.map(({ message }) => message).join(" "), faults })

/** With every unknown field, and whatever else is wrong. */
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

/** Gathering every fault costs even where there is none: it is done only for what the quick way has refused. */
const decoderOf = (schema: Schema.Top, whole: string) => {
  const quick = SchemaParser.decodeUnknownEffect(schema) as (
    input: unknown
  ) => Effect.Effect<unknown, SchemaIssue.Issue>
  const thorough = SchemaParser.decodeUnknownResult(schema as Synchronous, { errors: "all", reportInput: true })
  const faultsIn = (input: unknown): ReadonlyArray<Fault> => {
    const result = thorough(input)
    return Result.isFailure(result) ? faultsOf(result.failure, whole) : []
  }
  const decode = (input: unknown): Effect.Effect<unknown, ReadonlyArray<Fault>> => {
    const done = quick(input)
    return Exit.isExit(done) && Exit.isSuccess(done) ? Effect.succeed(done.value) : Effect.fail(faultsIn(input))
  }
  return { decode, faultsIn }
}

/** No schema of the contract waits for anything: what fits is known at once. */
type Synchronous = Schema.Top & { readonly DecodingServices: never }
