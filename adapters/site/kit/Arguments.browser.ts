/**
 * The arguments of a tool as fields of a form, made from its input schema. A schema is a stranger's text: whatever it says
 * that has no field of its own is written as JSON, and the service decides what fits.
 */
import { Refused } from "./Api.browser.ts"
import type { Field, Values } from "./Form.browser.ts"

export type Json = null | boolean | number | string | ReadonlyArray<Json> | { readonly [name: string]: Json }
export type Schema = Readonly<Record<string, unknown>>

/** One argument, or all of them in one text where `property` is absent. */
export interface Argument {
  readonly property?: string
  readonly field: Field
  /** What was written; a sentence where it cannot be read. */
  readonly read: (text: string) => { readonly value: Json } | string
}

const FIELDS_MAX = 60
const HINT_CHARS_MAX = 400
const WHOLE = "all"

/** None: the tool takes no arguments at all. */
export const argumentsOf = (schema: Schema | null): ReadonlyArray<Argument> => {
  const properties = schema?.["properties"]
  if (schema === null || !isSchema(properties)) return [allInOne({})]
  const required = Array.isArray(schema["required"]) ? (schema["required"] as ReadonlyArray<unknown>) : []
  const names = Object.keys(properties)
  if (names.length > FIELDS_MAX) return [allInOne({})]
  if (names.length === 0) return schema["additionalProperties"] === false ? [] : [allInOne({})]
  return names.map((property, index) =>
    argument(property, `a${index}`, resolved(properties[property], schema), required.includes(property))
  )
}

export const allInOne = (value: Json): Argument => ({
  field: {
    name: WHOLE,
    label: "Arguments, as JSON",
    type: "textarea",
    value: JSON.stringify(value, null, 2),
    hint: 'An object, such as {"q": "sea"}.'
  },
  read: (text) => {
    const found = parsed(text)
    return typeof found === "object" && isSchema(found.value) ? found : "Write a JSON object: { … }"
  }
})

/** What stands in the form; what cannot be read, or is needed and absent, comes from `instead`. */
export const inputNow = (all: ReadonlyArray<Argument>, values: Values, instead: Schema): Json => {
  const whole = all.find(({ property }) => property === undefined)
  if (whole !== undefined) {
    const found = whole.read(values[whole.field.name] ?? "")
    return typeof found === "string" ? {} : found.value
  }
  return Object.fromEntries(
    all.flatMap(({ field, property, read }) => {
      const text = values[field.name] ?? ""
      const found = text === "" ? "" : read(text)
      if (typeof found === "object") return [[property!, found.value]]
      return field.optional === true || !Object.hasOwn(instead, property!)
        ? []
        : [[property!, instead[property!] as Json]]
    })
  )
}

/** What is to be sent; refused beside the field that cannot be read. */
export const inputOf = (all: ReadonlyArray<Argument>, values: Values): Json => {
  const faults: Array<{ readonly path: ReadonlyArray<string>; readonly message: string }> = []
  const read = all.flatMap((one) => {
    const text = values[one.field.name] ?? ""
    if (text === "") return []
    const found = one.read(text)
    if (typeof found === "object") return [[one.property, found.value] as const]
    faults.push({ path: [one.field.name], message: found })
    return []
  })
  if (faults.length > 0) throw new Refused(422, { details: faults })
  const whole = read.find(([property]) => property === undefined)
  return whole === undefined ? Object.fromEntries(read.map(([property, value]) => [property!, value])) : whole[1]
}

/** The service speaks of `input.q`; the form knows the field. */
export const placedAt = (all: ReadonlyArray<Argument>, refused: Refused): Refused =>
  new Refused(refused.status, {
    ...refused.body,
    details: refused.faults.map(({ message, path: [root, property, ...deeper] }) => {
      const one =
        root === "input" ? all.find((each) => each.property === undefined || each.property === property) : undefined
      const inner = one?.property === undefined ? [property, ...deeper] : deeper
      const place = inner.filter((step) => step !== undefined).join(".")
      return { path: [one?.field.name ?? ""], message: place === "" ? message : `${place}: ${message}` }
    })
  })

const argument = (property: string, name: string, schema: Schema, isNeeded: boolean): Argument => {
  const hint = [text(schema["description"]).slice(0, HINT_CHARS_MAX), limits(schema)]
    .filter((one) => one !== "")
    .join(" ")
  const base = {
    name,
    label: property,
    ...(hint === "" ? {} : { hint }),
    ...(isNeeded ? {} : { optional: true })
  }
  const choices = choicesOf(schema)
  if (choices !== undefined) {
    const suggested = schema["default"]
    return {
      property,
      field: {
        ...base,
        type: "select",
        value: suggested === undefined ? "" : JSON.stringify(suggested),
        choices: [["", "–"], ...choices]
      },
      read: (chosen) => parsed(chosen)
    }
  }
  const kind = kindOf(schema)
  const begun = schema["default"]
  switch (kind) {
    case "string":
      return {
        property,
        field: {
          ...base,
          type: isLong(schema) ? "textarea" : "text",
          ...(typeof begun === "string" ? { value: begun } : {}),
          ...placeholder(schema, "string")
        },
        read: (value) => ({ value })
      }
    case "integer":
    case "number":
      return {
        property,
        field: {
          ...base,
          type: "number",
          ...(typeof begun === "number" ? { value: String(begun) } : {}),
          ...placeholder(schema, "number")
        },
        read: (typed) => numberOf(typed, kind)
      }
    default:
      return {
        property,
        field: {
          ...base,
          type: "textarea",
          ...(begun === undefined ? {} : { value: JSON.stringify(begun, null, 2) }),
          placeholder: kind === "array" ? "[ … ]" : kind === "object" ? "{ … }" : "JSON",
          hint: [hint, "Written as JSON."].filter((one) => one !== "").join(" ")
        },
        read: parsed
      }
  }
}

const LONG_CHARS = 200

const isLong = ({ contentMediaType, maxLength }: Schema): boolean =>
  typeof contentMediaType === "string" || (typeof maxLength === "number" && maxLength > LONG_CHARS)

const choicesOf = (schema: Schema): ReadonlyArray<readonly [string, string]> | undefined => {
  const values = schema["const"] !== undefined ? [schema["const"]] : schema["enum"]
  if (Array.isArray(values)) {
    return values.map((value) => [JSON.stringify(value), typeof value === "string" ? value : JSON.stringify(value)])
  }
  return kindOf(schema) === "boolean"
    ? [
        ["true", "Yes"],
        ["false", "No"]
      ]
    : undefined
}

/** Of several types the first that is not null; undefined where only JSON can say. */
const kindOf = ({ type }: Schema): string | undefined => {
  const types = (Array.isArray(type) ? type : [type]).filter((one) => one !== "null")
  return types.length === 1 && typeof types[0] === "string" ? types[0] : undefined
}

const numberOf = (typed: string, kind: "integer" | "number"): { readonly value: Json } | string => {
  const pattern = kind === "integer" ? /^-?\d{1,16}$/u : /^-?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/iu
  const value = Number(typed)
  const isFine = pattern.test(typed) && (kind === "integer" ? Number.isSafeInteger(value) : Number.isFinite(value))
  return isFine ? { value } : kind === "integer" ? "Write a whole number." : "Write a number, such as 1.5."
}

const limits = ({ maximum, maxLength, minimum, minLength }: Schema): string =>
  [between(minimum, maximum, ""), between(minLength, maxLength, " characters")].filter((one) => one !== "").join(" ")

const between = (min: unknown, max: unknown, unit: string): string => {
  const [from, to] = [min, max].map((one) => (typeof one === "number" ? one.toLocaleString() : undefined))
  if (from === undefined) return to === undefined ? "" : `At most ${to}${unit}.`
  return to === undefined ? `At least ${from}${unit}.` : `${from} to ${to}${unit}.`
}

const placeholder = ({ examples }: Schema, type: "string" | "number"): { readonly placeholder?: string } => {
  const example: unknown = Array.isArray(examples) ? examples[0] : undefined
  return typeof example === type ? { placeholder: String(example) } : {}
}

const REFERENCES_MAX = 8

/** A reference within the schema itself; of several forms the only one that is not null. */
const resolved = (schema: unknown, root: Schema, depth = 0): Schema => {
  if (!isSchema(schema) || depth > REFERENCES_MAX) return {}
  const { $ref: reference, anyOf, oneOf } = schema
  if (typeof reference === "string" && reference.startsWith("#/")) {
    const target = reference
      .slice(2)
      .split("/")
      .reduce<unknown>((place, step) => {
        const name = step.replaceAll("~1", "/").replaceAll("~0", "~")
        return isSchema(place) && Object.hasOwn(place, name) ? place[name] : undefined
      }, root)
    const { $ref: _, ...own } = schema
    return { ...resolved(target, root, depth + 1), ...own }
  }
  const forms = [anyOf, oneOf].find((list) => Array.isArray(list)) as ReadonlyArray<unknown> | undefined
  const others = forms?.filter((form) => !isSchema(form) || form["type"] !== "null")
  if (others?.length !== 1) return schema
  const { anyOf: _, oneOf: __, ...own } = schema
  return { ...resolved(others[0], root, depth + 1), ...own }
}

const parsed = (written: string): { readonly value: Json } | string => {
  try {
    return { value: JSON.parse(written) as Json }
  } catch {
    return "This is not JSON."
  }
}

const text = (value: unknown): string => (typeof value === "string" ? value.trim() : "")

const isSchema = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value)
