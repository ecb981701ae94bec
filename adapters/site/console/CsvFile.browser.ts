/**
 * CSV files (RFC 4180) of lists.
 */
import type { Column } from "./DataTable.browser.ts"

export const csvOf = <Row>(columns: ReadonlyArray<Column<Row>>, rows: ReadonlyArray<Row>): string => {
  const written = columns.filter(({ csv }) => csv !== undefined)
  const lines = [written.map(({ name }) => name), ...rows.map((row) => written.map(({ csv }) => csv!(row)))]
  return lines.map((line) => `${line.map(cellOf).join(",")}\r\n`).join("")
}

/**
 * Spreadsheets would run text that begins like a formula. Where they separate cells by semicolons or tabs, as in much of
 * Europe, they begin a cell after each of those, and a row after each line break, also within our quotes.
 */
const FORMULA = /(?=[=+\-@\uff1d\uff0b\uff0d\uff20])(?<=(?:^|[;\t\r\n])["\s]*)/gu

const cellOf = (value: number | string): string => {
  if (typeof value === "number") return String(value)
  const text = value.replaceAll(FORMULA, "'")
  return /[",\r\n]/u.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
