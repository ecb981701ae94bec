/**
 * Describes the JSON that a schema expects, in words: "an integer between 100 and 100000", "one of `day`, `month`, `total`".
 * It never contains the name of an internal type.
 */
import { Schema, SchemaAST } from "effect"
import { wireOf } from "../contract/OtherFields.ts"

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
