/**
 * A table for people: aligned columns under their titles.
 */
import { CliOutput } from "effect/cli"
import { safeLine } from "./SafeText.ts"

const CELL_CHARS_MAX = 60

export type Row = ReadonlyArray<string>

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
