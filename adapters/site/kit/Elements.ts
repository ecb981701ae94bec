/**
 * Tables and figures of server-rendered pages.
 */
import { type Html, html, type Part } from "./Html.ts"

/** Numbers are aligned to the right. */
export interface Column {
  readonly name: string
  readonly isNumber?: boolean
}

/** The first cell of a row is its header. */
export const table = (
  caption: string,
  columns: ReadonlyArray<Column>,
  rows: ReadonlyArray<ReadonlyArray<Part>>
): Html => {
  const style = (index: number) => (columns[index]?.isNumber === true ? "right number nowrap" : "")
  return html`<div class="scroll" role="region" aria-label="${caption}" tabindex="0">
    <table>
      <caption>
        ${caption}
      </caption>
      <thead>
        <tr>
          ${columns.map(({ name }, index) => html`<th scope="col" class="${style(index)}">${name}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          ([header, ...cells]) =>
            html`<tr>
              <th scope="row">${header}</th>
              ${cells.map((cell, index) => html`<td class="${style(index + 1)}">${cell}</td>`)}
            </tr>`
        )}
      </tbody>
    </table>
  </div>`
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
