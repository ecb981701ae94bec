/**
 * Rejects fields that the contract does not define: a misspelled limit would otherwise have no effect. Known fields are read
 * once from the contract's own schemas; a request costs one lookup per field.
 */
import { type Schema, SchemaAST } from "effect"
import { nearestName } from "../../../domain/shared/NearestName.ts"
import { otherFieldsOf, wireOf } from "../api/OtherFields.ts"
import { type Fault, FAULTS_MAX } from "./Failures.ts"

type Path = ReadonlyArray<string | number>
type Report = (path: Path, known: ReadonlySet<string>) => void
type Check = (value: unknown, path: Path, report: Report) => void

const NONE: ReadonlyArray<Fault> = []
/** For names sent by a client. */
const NAME_CHARS_SHOWN_MAX = 100
const NAMES_SHOWN_MAX = 30

/** One fault per unknown field. Undefined where the schema accepts any field. */
export const unknownFields = (schema: Schema.Top): ((body: unknown) => ReadonlyArray<Fault>) | undefined => {
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
export const unknownName = (kind: "field" | "query parameter", name: string, known: ReadonlySet<string>): string => {
  const begin = `Unknown ${kind} \`${name.slice(0, NAME_CHARS_SHOWN_MAX)}\`.`
  const nearest = nearestName(name, known)
  if (nearest !== undefined) return `${begin} Did you mean \`${nearest}\`?`
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

interface Shape {
  readonly known: ReadonlySet<string>
  readonly required: ReadonlyArray<string>
  readonly others: RegExp | undefined
}

const shapeOf = (ast: SchemaAST.AST, wire: SchemaAST.Objects): Shape => ({
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

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)
