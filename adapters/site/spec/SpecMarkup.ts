/**
 * Building blocks of the specification. Text may contain code in `backticks`.
 */
import { table as htmlTable } from "../kit/Elements.ts"
import { type Html, html, prose } from "../kit/Html.ts"

export interface SpecSection {
  readonly id: string
  readonly title: string
  readonly body: ReadonlyArray<Html>
}

export const paragraph = (...sentences: ReadonlyArray<string>): Html => html`<p>${prose(sentences.join(" "))}</p>`

const items = (all: ReadonlyArray<string>): ReadonlyArray<Html> => all.map((item) => html`<li>${prose(item)}</li>`)

export const list = (...all: ReadonlyArray<string>): Html =>
  html`<ul>
    ${items(all)}
  </ul>`

export const numbered = (all: ReadonlyArray<string>): Html =>
  html`<ol>
    ${items(all)}
  </ol>`

export const heading = (title: string): Html => html`<h3>${title}</h3>`

export const code = (content: string): Html => html`<pre><code class="whole">${content}</code></pre>`

export const table = (
  caption: string,
  columns: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<string>>
): Html =>
  htmlTable(
    caption,
    columns.map((name) => ({ name })),
    rows.map((row) => row.map(prose))
  )

/** A table of code values and their meanings. */
export const definitions = (caption: string, name: string, meanings: Readonly<Record<string, string>>): Html =>
  table(
    caption,
    [name, "Meaning"],
    Object.entries(meanings).map(([value, meaning]) => [`\`${value}\``, meaning])
  )

export const codeList = (names: ReadonlyArray<string>): string => names.map((name) => `\`${name}\``).join(", ")

export const formatNumber = (value: number | bigint): string => value.toLocaleString("en-US")
