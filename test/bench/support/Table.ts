/**
 * Figures for people: medians, ratios and a table on the console.
 */
import type { Measured } from "./LoadGenerator.ts"

export const median = (values: ReadonlyArray<number>): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN

export const row = (name: string, turns: ReadonlyArray<Measured>, ofBare: number): ReadonlyArray<string> => {
  const rate = median(turns.map((one) => one.perSecond))
  const p50 = median(turns.map((one) => one.p50Ms))
  const p99 = median(turns.map((one) => one.p99Ms))
  return [name, rate.toFixed(0), ofBare.toFixed(2), p50.toFixed(2), p99.toFixed(2), (p99 / p50).toFixed(1)]
}

export const table = (title: string, rows: ReadonlyArray<ReadonlyArray<string>>): void => {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((cells) => (cells[column] ?? "").length)))
  const lines = rows.map((cells) =>
    cells.map((cell, column) => (column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!))).join("  ")
  )
  process.stdout.write(`\n${title}\n${lines.join("\n")}\n`)
}
