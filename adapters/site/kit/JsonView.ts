/**
 * JSON with syntax highlighting.
 */
import type { Json } from "../../http/openapi/OpenApiModel.ts"
import { type Html, html } from "./Html.ts"
import { jsonText } from "./JsonText.ts"

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
