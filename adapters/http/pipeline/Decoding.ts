/**
 * Decodes the parts of a request by the endpoint's schemas, or says what is wrong with them. Decoders are built once.
 */
import { Effect, Exit, Result, type Schema, type SchemaIssue, SchemaParser } from "effect"
import type { HttpApiEndpoint } from "effect/http-api"
import { fieldNames, otherFieldsOf } from "../api/OtherFields.ts"
import { BadRequest, type Fault, FAULTS_MAX, PathRejected, ValidationFailed } from "./Failures.ts"
import { faultsOf } from "./FaultSentences.ts"
import { unknownFields } from "./KnownFields.ts"
import { parseQuery } from "./Query.ts"

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
