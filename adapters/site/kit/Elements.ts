/**
 * Tables and figures of server-rendered pages.
 */
import { type Html, html, type Part } from "./Html.ts"

/** Numbers are aligned to the right. */
export interface Column {
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
