/**
 * HTML templates. Interpolated values are escaped unless they are HTML themselves.
 */
import { escapeHidden } from "../../../domain/shared/PlainText.ts"

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

export const escape = (text: string): string => escapeHidden(text).replace(/[&<>"']/gu, (char) => ENTITIES[char]!)

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
