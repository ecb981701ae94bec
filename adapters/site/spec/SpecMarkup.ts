/**
 * What the parts of the specification are written with.
 */
import { type Html, html, type Part, prose } from "../kit/Html.ts"

export interface SpecPart {
  readonly id: string
  readonly title: string
  readonly body: ReadonlyArray<Html>
}

/** A paragraph in which `backticks` mark what is sent. */
export const said = (...sentences: ReadonlyArray<string>): Html => html`<p>${prose(sentences.join(" "))}</p>`

export const points = (...items: ReadonlyArray<string>): Html =>
  html`<ul>
    ${items.map((item) => html`<li>${prose(item)}</li>`)}
  </ul>`

export const ordered = (items: ReadonlyArray<string>): Html =>
  html`<ol>
    ${items.map((item) => html`<li>${prose(item)}</li>`)}
  </ol>`

export const heading = (title: string): Html => html`<h3>${title}</h3>`

export const text = (content: string): Html => html`<pre><code class="whole">${content}</code></pre>`

/** The first column names what the row is about. */
export const listing = (
  caption: string,
  heads: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<string>>
): Html =>
  html`<div class="scroll" role="region" aria-label="${caption}" tabindex="0">
    <table>
      <caption>
        ${caption}
      </caption>
      <thead>
        <tr>
          ${heads.map((head) => html`<th scope="col">${head}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          ([name, ...cells]) =>
            html`<tr>
              <th scope="row">${prose(name!)}</th>
              ${cells.map((cell) => html`<td>${prose(cell)}</td>`)}
            </tr>`
        )}
      </tbody>
    </table>
  </div>`

export const codes = (names: ReadonlyArray<string>): string => names.map((name) => `\`${name}\``).join(", ")

/** 1000000 as 1,000,000. */
export const figure = (value: number | bigint): string => value.toLocaleString("en-US")

export const fragment = (...parts: ReadonlyArray<Part>): Html => html`${parts}`
