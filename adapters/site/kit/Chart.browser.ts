/**
 * A chart of values by day or week, with the same values as a table.
 */
import type uPlotLibrary from "uplot"
import { type ChartOptions, drawChart, type Point } from "./ChartDrawing.browser.ts"
import { el } from "./Dom.browser.ts"
import { day } from "./Format.browser.ts"
import { table } from "./Table.browser.ts"

/** Loaded by the page before its modules. */
declare const uPlot: typeof uPlotLibrary

export const chart = (points: ReadonlyArray<Point>, options: ChartOptions): HTMLElement => {
  const place = el("div", { class: "chart", role: "img", "aria-label": `${options.title}, as a chart` })
  drawChart(uPlot, place, points, options)
  return el(
    "figure",
    place,
    el(
      "details",
      el("summary", `${options.title} as a table`),
      table(
        options.title,
        [
          { name: options.pointLabel ?? "Day", cell: (point: Point) => day(point.date) },
          { name: options.unit, cell: ({ value }) => (value === null ? "–" : options.format(value)), isNumber: true }
        ],
        points.toReversed()
      )
    )
  )
}
