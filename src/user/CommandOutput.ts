/**
 * Commands print the API's response for programs, text and tables for people. Names, descriptions and results come from
 * providers, and control characters in them could move the cursor, change the title or hide text: they are escaped.
 */
import { Console, Effect } from "effect"
import { CliOutput } from "effect/cli"
import { escapeHidden, escapeHiddenJson, withNewlines } from "../../domain/shared/PlainText.ts"

export const safeText = (text: string): string => escapeHidden(withNewlines(text))

export const safeLine = (text: string): string => safeText(text).replaceAll(/\s+/gu, " ").trim()

export const safeJson = (value: unknown): string => escapeHiddenJson(JSON.stringify(value, null, 2) ?? "null")

/** Programs get the response as it is, people get `text`. */
export const shown = (asJson: boolean, value: unknown, text: () => string) =>
  Console.log(asJson ? safeJson(value) : text())

/** Names the next page of a list that has one. */
export const moreAfter = (page: { readonly next_cursor: string | null; readonly total: number }) =>
  page.next_cursor === null
    ? Effect.void
    : Console.error(`There are ${page.total} in all. Next page: --cursor ${page.next_cursor}`)

const CELL_CHARS_MAX = 60

type Row = ReadonlyArray<string>

/** Columns are aligned under their titles. */
export const textTable = (titles: Row, rows: ReadonlyArray<Row>): string => {
  const lines = [titles, ...rows.map((row) => row.map((cell) => short(safeLine(cell))))]
  const widths = titles.map((_, column) => Math.max(...lines.map((line) => CliOutput.displayWidth(line[column] ?? ""))))
  return lines
    .map((line) =>
      line
        .map((cell, column) => padded(cell, widths[column]!))
        .join("  ")
        .trimEnd()
    )
    .join("\n")
}

/** Names and values of one thing, one a line. */
export const textFields = (fields: ReadonlyArray<readonly [name: string, value: string]>): string => {
  const width = Math.max(...fields.map(([name]) => name.length))
  return fields.map(([name, value]) => `${name.padEnd(width)}  ${safeLine(value)}`.trimEnd()).join("\n")
}

const padded = (cell: string, width: number): string => cell + " ".repeat(width - CliOutput.displayWidth(cell))

const short = (cell: string): string => {
  const chars = [...cell]
  return chars.length <= CELL_CHARS_MAX ? cell : `${chars.slice(0, CELL_CHARS_MAX - 1).join("")}…`
}
