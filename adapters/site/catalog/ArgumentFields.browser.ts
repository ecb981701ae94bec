/**
 * Form fields for the arguments of a tool, from its input schema. Properties without a field type of their own are entered as
 * JSON; the service validates the input.
 */
import type { Field, Values } from "../console/InputForm.browser.ts"
import { ApiError, invalid } from "../kit/ApiRequest.browser.ts"

export type Json = null | boolean | number | string | ReadonlyArray<Json> | { readonly [name: string]: Json }
export type Schema = Readonly<Record<string, unknown>>

/** One property, or the whole input where `property` is absent. */
interface Argument {
  readonly property?: string
  readonly field: Field
  /** The value, or an error message. */
  readonly read: (text: string) => { readonly value: Json } | string
}

const FIELDS_MAX = 60
const HINT_CHARS_MAX = 400
const WHOLE = "all"

/** Empty if the tool takes no arguments. */
export const argumentFields = (schema: Schema | null): ReadonlyArray<Argument> => {
  const properties = schema?.["properties"]
  if (schema === null || !isSchema(properties)) return [jsonArgument({})]
  const required = Array.isArray(schema["required"]) ? (schema["required"] as ReadonlyArray<unknown>) : []
  const names = Object.keys(properties)
  if (names.length > FIELDS_MAX) return [jsonArgument({})]
  if (names.length === 0) return schema["additionalProperties"] === false ? [] : [jsonArgument({})]
  return names.map((property, index) =>
    argument(property, `a${index}`, resolved(properties[property], schema), required.includes(property))
  )
}

export const jsonArgument = (value: Json): Argument => ({
  field: {
    name: WHOLE,
    label: "Arguments (JSON)",
    type: "textarea",
    value: JSON.stringify(value, null, 2),
    hint: 'A JSON object, such as {"q": "sea"}.'
  },
  read: (text) => {
    const found = parsed(text)
    return typeof found === "object" && isSchema(found.value) ? found : "Enter a JSON object."
  }
})

/** The input so far. Invalid and missing required values come from `sample`. */
export const previewInput = (all: ReadonlyArray<Argument>, values: Values, sample: Schema): Json => {
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
      return field.optional === true || !Object.hasOwn(sample, property!)
        ? []
        : [[property!, sample[property!] as Json]]
    })
  )
}

/** The input to send. Throws with an error per invalid field. */
export const readInput = (all: ReadonlyArray<Argument>, values: Values): Json => {
  const errors: Record<string, string> = {}
  const read = all.flatMap((one) => {
    const text = values[one.field.name] ?? ""
    if (text === "") return []
    const found = one.read(text)
    if (typeof found === "object") return [[one.property, found.value] as const]
    errors[one.field.name] = found
    return []
  })
  if (Object.keys(errors).length > 0) throw invalid(errors)
  const whole = read.find(([property]) => property === undefined)
  return whole === undefined ? Object.fromEntries(read.map(([property, value]) => [property!, value])) : whole[1]
}

/** Maps API errors at `input.<property>` to the form's fields. */
export const withFieldErrors = (all: ReadonlyArray<Argument>, error: ApiError): ApiError =>
  new ApiError(error.status, {
    ...error.body,
    details: error.fieldErrors.map(({ message, path: [root, property, ...deeper] }) => {
      const one =
        root === "input" ? all.find((each) => each.property === undefined || each.property === property) : undefined
      const inner = one?.property === undefined ? [property, ...deeper] : deeper
      const place = inner.filter((step) => step !== undefined).join(".")
      return { path: [one?.field.name ?? ""], message: place === "" ? message : `${place}: ${message}` }
    })
  })

const argument = (property: string, name: string, schema: Schema, isRequired: boolean): Argument => {
  const hint = sentences(text(schema["description"]).slice(0, HINT_CHARS_MAX), limits(schema))
  const base = {
    name,
    label: property,
    ...(hint === "" ? {} : { hint }),
    ...(isRequired ? {} : { optional: true })
  }
  const choices = choicesIn(schema)
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
  const initial = schema["default"]
  switch (kind) {
    case "string":
      return {
        property,
        field: {
          ...base,
          type: isLong(schema) ? "textarea" : "text",
          ...(typeof initial === "string" ? { value: initial } : {}),
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
          ...(typeof initial === "number" ? { value: String(initial) } : {}),
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
          ...(initial === undefined ? {} : { value: JSON.stringify(initial, null, 2) }),
          placeholder: kind === "array" ? "[ … ]" : kind === "object" ? "{ … }" : "JSON",
          hint: sentences(hint, "Enter JSON.")
        },
        read: parsed
      }
  }
}

const LONG_CHARS = 200

const isLong = ({ contentMediaType, maxLength }: Schema): boolean =>
  typeof contentMediaType === "string" || (typeof maxLength === "number" && maxLength > LONG_CHARS)

const choicesIn = (schema: Schema): ReadonlyArray<readonly [string, string]> | undefined => {
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

/** The only type besides null, if there is one. */
const kindOf = ({ type }: Schema): string | undefined => {
  const types = (Array.isArray(type) ? type : [type]).filter((one) => one !== "null")
  return types.length === 1 && typeof types[0] === "string" ? types[0] : undefined
}

const numberOf = (typed: string, kind: "integer" | "number"): { readonly value: Json } | string => {
  const pattern = kind === "integer" ? /^-?\d{1,16}$/u : /^-?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/iu
  const value = Number(typed)
  const isFine = pattern.test(typed) && (kind === "integer" ? Number.isSafeInteger(value) : Number.isFinite(value))
  return isFine ? { value } : kind === "integer" ? "Enter a whole number." : "Enter a number, such as 1.5."
}

const sentences = (first: string, second: string): string =>
  first === "" || second === "" ? first + second : `${first}${/[.!?]$/u.test(first) ? "" : "."} ${second}`

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

/** Follows local references and unwraps nullable types. */
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
    return "Invalid JSON."
  }
}

const text = (value: unknown): string => (typeof value === "string" ? value.trim() : "")

const isSchema = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value)
