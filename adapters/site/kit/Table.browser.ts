/**
 * Tables that scroll horizontally on narrow screens.
 */
import { type Child, el } from "./Dom.browser.ts"

export interface Column<Row> {
  readonly name: string
  readonly cell: (row: Row) => Child
  readonly isNumber?: boolean
}

export const table = <Row>(
  caption: string,
  columns: ReadonlyArray<Column<Row>>,
  rows: ReadonlyArray<Row>
): HTMLElement => {
  const style = ({ isNumber }: Column<Row>) => (isNumber === true ? "right number" : "")
  return el(
    "div",
    { class: "scroll", role: "region", "aria-label": `${caption}: table`, tabindex: 0 },
    el(
      "table",
      el(
        "thead",
        el(
          "tr",
          columns.map((column) =>
            column.name === "" ? el("td") : el("th", { scope: "col", class: style(column) }, column.name)
          )
        )
      ),
      el(
        "tbody",
        rows.map((row) =>
          el(
            "tr",
            columns.map((column) => el("td", { class: style(column) }, column.cell(row)))
          )
        )
      )
    )
  )
}
