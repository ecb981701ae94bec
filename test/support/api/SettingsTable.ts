/**
 * The text of docs/settings.md with the table of all settings, computed from their list.
 */
import { optionName } from "../../../src/config/ServiceOptions.ts"
import { settings } from "../../../src/config/Settings.ts"

type Row = readonly [name: string, option: string, meaning: string, fallback: string]

const rows = (): ReadonlyArray<Row> =>
  Object.entries(settings).map(([name, setting]) => [
    `\`${name}\``,
    "onlyCommand" in setting ? "–" : `\`${optionName(name)}\``,
    setting.meaning,
    setting.fallback === undefined ? "–" : `\`${setting.fallback}\``
  ])

/** Padded as the formatter does. */
const table = (): string => {
  const all: ReadonlyArray<Row> = [["name", "option of `service()`", "meaning", "default"], ...rows()]
  const widths = [0, 1, 2, 3].map((column) => Math.max(...all.map((row) => row[column]!.length)))
  const line = (cells: ReadonlyArray<string>, fill: string) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column]!, fill)).join(" | ")} |`
  const [head, ...body] = all
  return [line(head!, " "), line(["", "", "", ""], "-"), ...body.map((row) => line(row, " "))].join("\n")
}

/** The chapter with a new table in the place of the old one. */
export const withSettingsTable = (chapter: string): string =>
  chapter.replace(/^\| name (?:.*\n\|)+.*$/mu, () => table())
