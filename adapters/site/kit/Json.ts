/**
 * JSON formatted for a narrow column, as text and with syntax highlighting.
 */
import type { Json } from "../../http/openapi/OpenApiModel.ts"
import { type Html, html } from "./Html.ts"

const LINE_CHARS_MAX = 48

export const jsonText = (value: Json, indent = ""): string => textOf(value, indent, JSON.stringify)

/** As a literal of TypeScript: names are quoted only where they must be. */
export const literalText = (value: Json, indent = ""): string =>
  textOf(value, indent, (name) => (/^[A-Za-z_]\w*$/u.test(name) ? name : JSON.stringify(name)))

type Named = (name: string) => string

const textOf = (value: Json, indent: string, named: Named): string => {
  const line = onOneLine(value, named)
  if (typeof value !== "object" || value === null || indent.length + line.length <= LINE_CHARS_MAX) return line
  const inner = `${indent}  `
  const items = Array.isArray(value)
    ? value.map((item: Json) => inner + textOf(item, inner, named))
    : Object.entries(value).map(([key, item]) => `${inner}${named(key)}: ${textOf(item, inner, named)}`)
  const [open, close] = Array.isArray(value) ? "[]" : "{}"
  return items.length === 0 ? line : `${open}\n${items.join(",\n")}\n${indent}${close}`
}

const onOneLine = (value: Json, named: Named): string => {
  if (Array.isArray(value)) return `[${value.map((item: Json) => onOneLine(item, named)).join(", ")}]`
  if (typeof value !== "object" || value === null) return JSON.stringify(value)
  const entries = Object.entries(value).map(([key, item]) => `${named(key)}: ${onOneLine(item, named)}`)
  return entries.length === 0 ? "{}" : `{ ${entries.join(", ")} }`
}

const TOKEN = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(?:true|false|null)\b|-?\d[\d.eE+-]*/gu

export const jsonView = (value: Json): Html => {
  const text = jsonText(value)
  const pieces: Array<Html> = []
  let from = 0
  for (const match of text.matchAll(TOKEN)) {
    pieces.push(html`${text.slice(from, match.index)}`, highlighted(match[0], match[1], match[2]))
    from = match.index + match[0].length
  }
  return html`${pieces}${text.slice(from)}`
}

const highlighted = (token: string, quoted: string | undefined, colon: string | undefined): Html => {
  if (quoted === undefined) return html`<span class="lit">${token}</span>`
  return colon === undefined
    ? html`<span class="str">${quoted}</span>`
    : html`<span class="key">${quoted}</span>${colon}`
}
