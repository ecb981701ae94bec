/**
 * A chart of values by day, with a tooltip and the same values as a table.
 */
import { useEffect, useRef } from "preact/hooks"
import uPlot from "uplot"
import { type ChartOptions, drawChart, type Point } from "../kit/ChartDrawing.browser.ts"
import { day } from "../kit/Format.browser.ts"
import { DataTable } from "./DataTable.browser.ts"
import { place, setQuery } from "./Place.browser.ts"
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

/** The first one, with an empty value, is the default. */
export type Periods = ReadonlyArray<readonly [value: string, label: string]>

const NAME = "period"

/** Empty: the default. Another tab may have periods that this one does not have. */
export const usePeriod = (periods: Periods): string => {
  const chosen = place.value.query.get(NAME) ?? ""
  return periods.some(([value]) => value === chosen) ? chosen : ""
}

export interface PeriodChoiceProps {
  readonly id: string
  readonly periods: Periods
}

/** The period that a tab shows, kept in the query of the address. */
export const PeriodChoice = ({ id, periods }: PeriodChoiceProps): View => {
  const period = usePeriod(periods)
  return h(
    "div",
    { class: "choice" },
    h("label", { for: id }, "Period"),
    h(
      "select",
      { id, onChange: ({ currentTarget }: Event) => setQuery({ [NAME]: (currentTarget as HTMLSelectElement).value }) },
      periods.map(([value, label]) => h("option", { key: value, value, selected: value === period }, label))
    )
  )
}
