/**
 * JSON formatted for a narrow column.
 */
import type { Json } from "../../http/openapi/OpenApiModel.ts"

const LINE_CHARS_MAX = 48

export const jsonText = (value: Json, indent = ""): string => {
  const line = onOneLine(value)
  if (typeof value !== "object" || value === null || indent.length + line.length <= LINE_CHARS_MAX) return line
  const inner = `${indent}  `
  const items = Array.isArray(value)
    ? value.map((item: Json) => inner + jsonText(item, inner))
    : Object.entries(value).map(([key, item]) => `${inner}${JSON.stringify(key)}: ${jsonText(item, inner)}`)
  const [open, close] = Array.isArray(value) ? "[]" : "{}"
  return items.length === 0 ? line : `${open}\n${items.join(",\n")}\n${indent}${close}`
}

const onOneLine = (value: Json): string => {
  if (Array.isArray(value)) return `[${value.map(onOneLine).join(", ")}]`
  if (typeof value !== "object" || value === null) return JSON.stringify(value)
  const entries = Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${onOneLine(item)}`)
  return entries.length === 0 ? "{}" : `{ ${entries.join(", ")} }`
}
