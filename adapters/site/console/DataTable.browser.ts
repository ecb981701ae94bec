/**
 * Tables. On narrow screens each row becomes a card with the names of its columns, so that nothing is cut.
 */
import type { ComponentChildren } from "preact"
import { money } from "../kit/Format.browser.ts"
import { type Badges, h, statusBadge, TimeText, type View } from "./View.browser.ts"

export interface Column<Row> {
  readonly name: string
  readonly cell: (row: Row) => ComponentChildren
  readonly isNumber?: boolean
  /** Text of several words: keeps a minimum width. */
  readonly isLong?: boolean
  /** Undefined: the column cannot be sorted. */
  readonly sortBy?: (row: Row) => number | string
  /** The value in CSV. Undefined: the column is left out there. */
  readonly csv?: (row: Row) => number | string
}

type Value = number | string | null

/** A column whose cells, order and CSV are the same values, except for what `others` says. */
export const column = <Row>(name: string, of: (row: Row) => Value, others: Partial<Column<Row>> = {}): Column<Row> => ({
  name,
  cell: of,
  sortBy: (row) => of(row) ?? "",
  csv: (row) => of(row) ?? "",
  ...others
})

/** `of`: in microcents. */
export const moneyColumn = <Row>(name: string, of: (row: Row) => number): Column<Row> => {
  const text = (row: Row) => money(of(row))
  return column(name, of, { cell: text, csv: text, isNumber: true })
}

/** `of`: in ISO 8601. */
export const timeColumn = <Row>(name: string, of: (row: Row) => string): Column<Row> =>
  column(name, of, { cell: (row) => h(TimeText, { at: of(row) }) })

export const statusColumn = <Row, Status extends string>(
  name: string,
  badges: Badges<Status>,
  of: (row: Row) => Status
): Column<Row> => column(name, of, { cell: (row) => statusBadge(badges, of(row)) })

export interface Sorting {
  readonly column: string
  readonly isDescending: boolean
}

interface DataTableProps<Row> {
  readonly caption: string
  readonly columns: ReadonlyArray<Column<Row>>
  readonly rows: ReadonlyArray<Row>
  readonly keyOf: (row: Row) => string
  readonly sorting?: Sorting | undefined
  readonly sort?: (column: string) => void
}

export const DataTable = <Row>(props: DataTableProps<Row>): View => {
  const { caption, columns, keyOf, rows } = props
  return h(
    "table",
    // The roles keep their meaning where the style turns rows into cards.
    { class: "data", role: "table" },
    h("caption", { class: "hidden" }, caption),
    h(
      "thead",
      { role: "rowgroup" },
      h(
        "tr",
        { role: "row" },
        columns.map((column) => headerOf(column, props))
      )
    ),
    h(
      "tbody",
      { role: "rowgroup" },
      rows.map((row) =>
        h(
          "tr",
          { role: "row", key: keyOf(row) },
          columns.map((column) =>
            h(
              "td",
              { role: "cell", key: column.name, class: styleOf(column), "data-label": column.name },
              h("div", null, cellOf(column, row))
            )
          )
        )
      )
    )
  )
}

/** An empty cell is marked as such: on a narrow screen it would be a label without a value. */
const cellOf = <Row>({ cell, name }: Column<Row>, row: Row): ComponentChildren => {
  const content = cell(row)
  return name !== "" && (content === "" || content === null || content === undefined) ? "–" : content
}

const headerOf = <Row>(column: Column<Row>, { sort, sorting }: DataTableProps<Row>): View => {
  const { name, sortBy } = column
  if (name === "") return h("td", { key: name, role: "cell" })
  const isSorted = sorting?.column === name
  const direction = !isSorted ? "none" : sorting.isDescending ? "descending" : "ascending"
  const isSortable = sort !== undefined && sortBy !== undefined
  return h(
    "th",
    {
      key: name,
      scope: "col",
      role: "columnheader",
      class: styleOf(column),
      ...(isSortable ? { "aria-sort": direction } : {})
    },
    isSortable
      ? h(
          "button",
          { type: "button", class: "sort", onClick: () => sort(name) },
          name,
          h("span", { "aria-hidden": "true" }, ARROWS[direction])
        )
      : name
  )
}

const ARROWS = { none: "\u00a0↕", ascending: "\u00a0↑", descending: "\u00a0↓" } as const

const styleOf = <Row>({ isLong, isNumber }: Column<Row>): string =>
  isNumber === true ? "right number" : isLong === true ? "long" : ""

/** Sorts by the value of a column; rows with equal values keep their order. */
export const sorted = <Row>(
  rows: ReadonlyArray<Row>,
  columns: ReadonlyArray<Column<Row>>,
  sorting: Sorting | undefined
): ReadonlyArray<Row> => {
  const by = columns.find(({ name }) => name === sorting?.column)?.sortBy
  if (by === undefined || sorting === undefined) return rows
  const direction = sorting.isDescending ? -1 : 1
  return rows.toSorted((one, other) => {
    const [a, b] = [by(one), by(other)]
    const order = typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b))
    return order * direction
  })
}
