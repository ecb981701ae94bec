/**
 * HTML templates, with tables, figures and JSON. Interpolated values are escaped unless they are HTML themselves.
 */
import { escapeHidden } from "../../../domain/shared/PlainText.ts"
import type { Json } from "../../http/openapi/OpenApiModel.ts"

export class Html {
  readonly markup: string
  constructor(markup: string) {
    this.markup = markup
  }
}

export type Part = Html | string | number | undefined | ReadonlyArray<Part>

export const html = (strings: TemplateStringsArray, ...parts: ReadonlyArray<Part>): Html =>
  new Html(strings.map((text, index) => text.replace(INDENT, "\n") + render(parts[index])).join(""))

/** Indentation of the source. */
const INDENT = /\n\s+/gu

const render = (part: Part): string => {
  if (part === undefined) return ""
  if (part instanceof Html) return part.markup
  if (typeof part === "object") return part.map(render).join("")
  return escape(String(part))
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;"
}

const escape = (text: string): string => escapeHidden(text).replace(/[&<>"']/gu, (char) => ENTITIES[char]!)

/** Text with code in `backticks`. */
export const prose = (text: string): ReadonlyArray<Html> =>
  text.split("`").map((piece, index) => (index % 2 === 1 ? code(piece) : html`${piece}`))

const UNBROKEN_CHARS_MAX = 24

const code = (text: string): Html =>
  text.length > UNBROKEN_CHARS_MAX ? html`<code>${breakable(text)}</code>` : html`<code class="short">${text}</code>`

/** A long name or path with line break opportunities. */
export const breakable = (name: string): ReadonlyArray<Part> =>
  name.split(/(?<=[._])|(?=\/)/u).flatMap((piece, index) => (index === 0 ? [piece] : [BREAK, piece]))

const BREAK = new Html("<wbr>")

// Tables and figures of server-rendered pages.

/** Numbers are aligned to the right. */
interface Column {
  readonly name: string
  readonly isNumber?: boolean
}

/** The first cell of a row is its header. On narrow screens each row becomes a card with the names of its columns. */
export const table = (
  caption: string,
  columns: ReadonlyArray<Column>,
  rows: ReadonlyArray<ReadonlyArray<Part>>
): Html => {
  const style = (index: number) => (columns[index]?.isNumber === true ? "right number nowrap" : "")
  const nameOf = (index: number) => columns[index]?.name ?? ""
  // The roles keep their meaning where the style turns rows into cards.
  return html`<table class="data" role="table">
    <caption>
      ${caption}
    </caption>
    <thead role="rowgroup">
      <tr role="row">
        ${columns.map(
          ({ name }, index) => html`<th role="columnheader" scope="col" class="${style(index)}">${name}</th>`
        )}
      </tr>
    </thead>
    <tbody role="rowgroup">
      ${rows.map(
        ([header, ...cells]) =>
          html`<tr role="row">
            <th role="rowheader" scope="row" data-label="${nameOf(0)}"><span>${header}</span></th>
            ${cells.map(
              (cell, index) =>
                html`<td role="cell" class="${style(index + 1)}" data-label="${nameOf(index + 1)}">
                  <span>${cell}</span>
                </td>`
            )}
          </tr>`
      )}
    </tbody>
  </table>`
}

export const figures = (all: ReadonlyArray<readonly [name: string, value: string, note?: string]>): Html =>
  html`<dl class="figures">
    ${all.map(
      ([name, value, note = ""]) =>
        html`<div class="figure">
          <dt>${name}</dt>
          <dd>${value}${note === "" ? "" : html`<small>${note}</small>`}</dd>
        </div>`
    )}
  </dl>`

interface Row {
  readonly id?: string
  readonly header: Part
  readonly cell: Part
}

/**
 * A table of two columns that becomes a list on narrow screens. Its roles are explicit, because `display: block` removes
 * the implicit ones.
 */
export const responsiveTable = (
  style: string,
  caption: string,
  [first, second]: readonly [string, string],
  rows: ReadonlyArray<Row>
): Html =>
  html`<table class="${style}" role="table">
    <caption>
      ${caption}
    </caption>
    <thead role="rowgroup">
      <tr role="row">
        <th role="columnheader" scope="col">${first}</th>
        <th role="columnheader" scope="col">${second}</th>
      </tr>
    </thead>
    <tbody role="rowgroup">
      ${rows.map(
        ({ cell, header, id }) =>
          html` <tr role="row" ${id === undefined ? "" : html`id="${id}"`}>
            <th role="rowheader" scope="row">${header}</th>
            <td role="cell">${cell}</td>
          </tr>`
      )}
    </tbody>
  </table>`

// JSON formatted for a narrow column, as text and with syntax highlighting.

const LINE_CHARS_MAX = 48

export const jsonText = (value: Json, indent = ""): string => textOf(value, indent, JSON.stringify)

/** Writes a literal of TypeScript: names are quoted only where they must be. */
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
