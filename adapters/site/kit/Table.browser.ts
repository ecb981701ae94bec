/**
 * Tables that scroll horizontally on narrow screens.
 */
import { type Child, el, empty } from "./Dom.browser.ts"

export interface Column<Row> {
  readonly name: string
  readonly cell: (row: Row) => Child
  readonly isNumber?: boolean
  /** Text of several words: keeps a minimum width. */
  readonly isLong?: boolean
}

/** `none`: shown instead of a table without rows. */
export const table = <Row>(
  caption: string,
  columns: ReadonlyArray<Column<Row>>,
  rows: ReadonlyArray<Row>,
  none?: string
): HTMLElement => {
  if (none !== undefined && rows.length === 0) return empty(none)
  const style = ({ isLong, isNumber }: Column<Row>) =>
    isNumber === true ? "right number" : isLong === true ? "long" : ""
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
