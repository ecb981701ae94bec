/**
 * Figures for people: medians, ratios and a table on the console.
 */
export const median = (values: ReadonlyArray<number>): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN

export const table = (title: string, rows: ReadonlyArray<ReadonlyArray<string>>): void => {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((cells) => (cells[column] ?? "").length)))
  const lines = rows.map((cells) =>
    cells.map((cell, column) => (column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!))).join("  ")
  )
  process.stdout.write(`\n${title}\n${lines.join("\n")}\n`)
}
