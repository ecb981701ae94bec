/**
 * Ratios that benches record, for one table of all of them beside those of the run before on this machine.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { table } from "./Table.ts"

interface Figure {
  readonly name: string
  readonly ratio: number
  readonly target: number | undefined
}

const noted: Array<Figure> = []
const KEPT = join(import.meta.dirname, "../../../node_modules/.cache/bench/ratios.json")

export const note = (name: string, ratio: number, target?: number): void => {
  noted.push({ name, ratio, target })
}

const before = (): Readonly<Record<string, number>> => {
  try {
    return JSON.parse(readFileSync(KEPT, "utf8")) as Record<string, number>
  } catch {
    return {}
  }
}

export const summary = (): void => {
  const earlier = before()
  table("All ratios", [
    ["", "ratio", "target", "run before", "off by"],
    ...noted.map(({ name, ratio, target }) => {
      const known = earlier[name]
      return [
        name,
        ratio.toFixed(2),
        target === undefined ? "" : target.toFixed(2),
        known === undefined ? "" : known.toFixed(2),
        known === undefined ? "" : `${((ratio / known - 1) * 100).toFixed(0)} %`
      ]
    })
  ])
  mkdirSync(dirname(KEPT), { recursive: true })
  writeFileSync(KEPT, JSON.stringify(Object.fromEntries(noted.map(({ name, ratio }) => [name, ratio]))))
}
