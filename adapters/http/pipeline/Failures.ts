/**
 * The faults of a request that are found before the rules of the domain apply, and the sentences that say so.
 */
import { Result, Schema, SchemaAST, SchemaIssue, SchemaParser } from "effect"
import { isObject } from "../../../domain/shared/JsonText.ts"
import { inSeconds } from "../../../domain/shared/Time.ts"
import { otherFieldsOf, wireOf } from "../contract/InputSchemas.ts"

/** Further faults of a request are not listed. */
export const FAULTS_MAX = 100

export const Fault = Schema.Struct({
  path: Schema.Array(Schema.Union([Schema.String, Schema.Int])),
  message: Schema.String
})
export type Fault = typeof Fault.Type

export class BadRequest extends Schema.TaggedError<BadRequest>()("BadRequest", {
  reason: Schema.String,
  faults: Schema.optionalKey(Schema.Array(Fault))
}) {
  override get message() {
    return this.reason
  }
}

export class ValidationFailed extends Schema.TaggedError<ValidationFailed>()("ValidationFailed", {
  faults: Schema.Array(Fault)
}) {
  override get message() {
    return firstOf(this.faults)
  }
}

/** A malformed id in the path: no resource exists under it. */
export class PathRejected extends Schema.TaggedError<PathRejected>()("PathRejected", { faults: Schema.Array(Fault) }) {
  override get message() {
    return firstOf(this.faults)
  }
}

const firstOf = (faults: ReadonlyArray<Fault>): string => {
  const [first] = faults
  if (first === undefined) return "The request is not valid."
  const more = faults.length - 1
  return more === 0 ? first.message : `${first.message} (${more} more: see \`details\`.)`
}

export class RouteNotFound extends Schema.TaggedError<RouteNotFound>()("RouteNotFound", { path: Schema.String }) {
  override get message() {
    return `There is nothing at ${this.path}. GET /api/market lists every endpoint.`
  }
}

export class NotFound extends Schema.TaggedError<NotFound>()("NotFound", { what: Schema.String }) {
  override get message() {
    return `${this.what} does not exist.`
  }
}

export class MethodNotAllowed extends Schema.TaggedError<MethodNotAllowed>()("MethodNotAllowed", {
  method: Schema.String,
  path: Schema.String,
  allow: Schema.Array(Schema.String)
}) {
  override get message() {
    return `${this.path} does not take ${this.method}. It takes ${this.allow.join(", ")}.`
  }
}

export class PayloadTooLarge extends Schema.TaggedError<PayloadTooLarge>()("PayloadTooLarge", {
  bytesMax: Schema.Int
}) {
  override get message() {
    return `The body is larger than ${this.bytesMax} bytes, which is the most that this endpoint takes.`
  }
}

export class UnsupportedMediaType extends Schema.TaggedError<UnsupportedMediaType>()("UnsupportedMediaType", {
  given: Schema.String
}) {
  override get message() {
    return `The body came as ${this.given}. Send JSON, with Content-Type: application/json.`
  }
}

/** The `Authorization` header contains no key that could be checked. */
export class AuthorizationRejected extends Schema.TaggedError<AuthorizationRejected>()("AuthorizationRejected", {
  fault: Schema.Literals(["no_scheme", "other_scheme"])
}) {
  override get message() {
    return this.fault === "no_scheme"
      ? "The Authorization header has no scheme."
      : "The Authorization header has another scheme than `Bearer`."
  }
}

export class MetricsRejected extends Schema.TaggedError<MetricsRejected>()("MetricsRejected", {
  hasToken: Schema.Boolean
}) {
  override get message() {
    return this.hasToken
      ? "Send Authorization: Bearer <METRICS_TOKEN>."
      : "These metrics are closed until the operator configures METRICS_TOKEN."
  }
}

const aRole = (role: string): string => `${role === "operator" ? "an" : "a"} ${role}`

export class WrongRole extends Schema.TaggedError<WrongRole>()("WrongRole", {
  role: Schema.String,
  needed: Schema.Array(Schema.String)
}) {
  override get message() {
    return `This needs ${this.needed.map(aRole).join(" or ")} key; you sent ${aRole(this.role)} key.`
  }
}

/** The key has bounds, which do not permit the request. */
export class ScopeMissing extends Schema.TaggedError<ScopeMissing>()("ScopeMissing", {
  needed: Schema.String,
  scopes: Schema.Array(Schema.String)
}) {
  override get message() {
    const has = this.scopes.length === 0 ? "none" : this.scopes.map((scope) => `\`${scope}\``).join(", ")
    return this.needed === "account"
      ? `This needs a key without bounds; the scopes of yours are ${has}.`
      : `This needs a key with the scope \`${this.needed}\`; the scopes of yours are ${has}.`
  }
}

/** A call names a run in `X-Run-Id` that is not below its key, or has ended. */
export class RunRejected extends Schema.TaggedError<RunRejected>()("RunRejected", { runId: Schema.String }) {
  override get message() {
    return `\`X-Run-Id\` must be the ID of a run below your key that is running; ${JSON.stringify(this.runId)} is none.`
  }
}

/** A browser sent the operator's cookie with a request of another site's page. */
export class NotFromOwnPage extends Schema.TaggedError<NotFromOwnPage>()("NotFromOwnPage", {
  origin: Schema.UndefinedOr(Schema.String)
}) {
  override get message() {
    const from = this.origin === undefined ? "without an Origin" : `from ${this.origin.slice(0, 200)}`
    return `The operator's session works only on pages of this service, and this request came ${from}. Other clients send \`Authorization: Bearer <key>\`.`
  }
}

const IN_TIME = {
  read: "Try again in a few seconds.",
  write:
    "It may still come to its end. Send it again with the same Idempotency-Key, and it is done once; without a key look " +
    "first whether it was done.",
  call:
    "What has begun of it is settled all the same. Send it again with the same Idempotency-Key: once settled, its answer " +
    "is kept under that key, and nothing is charged twice. Without a key your receipts show whether it was billed."
} as const

/** The request's time was up before the response was ready. */
export class RequestTimedOut extends Schema.TaggedError<RequestTimedOut>()("RequestTimedOut", {
  kind: Schema.Literals(["read", "write", "call"])
}) {
  override get message() {
    return `The service could not answer in time. ${IN_TIME[this.kind]}`
  }
}

export class RateLimited extends Schema.TaggedError<RateLimited>()("RateLimited", {
  limit: Schema.Int,
  retryAfterSeconds: Schema.Int,
  /** The time until the whole limit is available again. */
  resetAfterSeconds: Schema.Int
}) {
  override get message() {
    return `Too many requests: the limit is ${this.limit} a minute. Retry after ${inSeconds(this.retryAfterSeconds)}.`
  }
}

// Describes the JSON that a schema expects, in words: "an integer between 100 and 100000", "one of `day`, `month`, `total`".
// It never contains the name of an internal type.

const kindOf = (ast: SchemaAST.AST): string => {
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

/** The limits, under the names by which Effect's own checks note them. */
interface Limits {
  /** The text of the first check that has a message. */
  expected?: string
  isInteger: boolean
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
}

/** The message of a check that has its own. */
const messageOf = (annotations: { readonly message?: unknown } | undefined): string | undefined =>
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

// Sentences for the client say what is wrong with a value: the field, what it must be, and what was sent. The message
// of a schema check begins with "must" and continues after the field's name, or is a complete sentence. Names of
// internal types are never shown.

export type Path = ReadonlyArray<string | number>

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

/** A union of objects has the faults of the member that the value matches best. */
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

/** Shows only short values. `quote`: shows that a string was sent where its text looks like another type. */
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

/** A value means the member with the fewest missing or unknown fields, by its index. */
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
