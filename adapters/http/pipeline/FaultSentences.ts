/**
 * What is wrong with a value, in sentences for the client: the field, what it must be, and what was sent. The message of a
 * schema check begins with "must" and continues after the field's name, or is a complete sentence. Names of internal types
 * are never shown.
 */
import { Result, Schema, SchemaAST, SchemaIssue, SchemaParser } from "effect"
import { otherFieldsOf, wireOf } from "../contract/OtherFields.ts"
import { kindOf, messageOf } from "./ExpectedKind.ts"
import { type Fault, FAULTS_MAX } from "./Failures.ts"

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
  const said = `${capital(subject)} ${predicate}`
  return sent === undefined ? `${said}.` : `${said}; ${sent} was sent.`
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
