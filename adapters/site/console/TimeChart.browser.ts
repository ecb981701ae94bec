/**
 * A chart of values by day, with a tooltip and the same values as a table.
 */
import { useEffect, useRef } from "preact/hooks"
import uPlot from "uplot"
import { type ChartOptions, drawChart, type Point } from "../kit/ChartDrawing.browser.ts"
import { day } from "../kit/Format.browser.ts"
import { DataTable } from "./DataTable.browser.ts"
import { h, type View } from "./View.browser.ts"

export interface TimeChartProps extends ChartOptions {
  readonly points: ReadonlyArray<Point>
}

export const TimeChart = (props: TimeChartProps): View => {
  const { format, pointLabel = "Day", points, title, unit } = props
  const element = useRef<HTMLDivElement>(null)
  useEffect(() => drawChart(uPlot, element.current!, points, props), [JSON.stringify(points)])
  return h(
    "figure",
    null,
    h("figcaption", { class: "small muted" }, `${title} (UTC)`),
    h("div", { ref: element, class: "chart", role: "img", "aria-label": `${title}, as a chart` }),
    h(
      "details",
      null,
      h("summary", null, `${title} as a table`),
      h(DataTable<Point>, {
        caption: title,
        columns: [
          { name: pointLabel, cell: ({ date }) => day(date) },
          { name: unit, cell: ({ value }) => (value === null ? "–" : format(value)), isNumber: true }
        ],
        rows: points.toReversed(),
        keyOf: ({ date }) => date
      })
    )
  )
}
