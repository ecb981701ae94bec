/**
 * A table of two columns that becomes a list on narrow screens.
 */
import { type Html, html, type Part } from "../kit/Html.ts"

export interface Row {
  readonly id?: string
  readonly header: Part
  readonly cell: Part
}

// Explicit roles, because `display: block` on narrow screens removes the implicit ones.
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
