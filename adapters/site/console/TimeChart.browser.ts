/**
 * A chart of values by day, with a tooltip and the same values as a table.
 */
import { useEffect, useRef } from "preact/hooks"
import uPlot from "uplot"
import { day } from "../kit/Format.browser.ts"
import { DataTable } from "./DataTable.browser.ts"
import { place, setQuery } from "./Place.browser.ts"
import { Choice, h, type View } from "./View.browser.ts"

// Ticks of a chart's scale. They are whole numbers of the unit, so that no label is rounded, and the last one is not below the
// highest value, so that every value can be read against a label.

const INTERVALS = 5
const STEPS = [1, 2, 5, 10] as const

export const scaleTicks = (from: number, highest: number): ReadonlyArray<number> => {
  const least = Math.max(1, (highest - from) / INTERVALS)
  const power = 10 ** Math.floor(Math.log10(least))
  const step = power * STEPS.find((one) => one * power >= least)!
  const intervals = Math.max(1, Math.ceil((highest - from) / step))
  return Array.from({ length: intervals + 1 }, (_, index) => from + index * step)
}

export interface Point {
  readonly date: string
  /** Null: no value on this day. */
  readonly value: number | null
}

export interface ChartOptions {
  readonly title: string
  readonly unit: string
  readonly format: (value: number) => string
  readonly kind?: "bars" | "line"
  /** Label of a point; "Day" by default. */
  readonly pointLabel?: string
  /** Bounds of the scale. */
  readonly from?: number
  readonly to?: number
}

/** More points than this would hide the line. */
const POINTS_SHOWN_MAX = 31
const HEIGHT_PX = 220
const SECONDS_PER_DAY = 86_400
const DARK = "(prefers-color-scheme: dark)"

/** Returns how to remove it. The scale of bars starts at zero. */
const drawChart = (element: HTMLElement, points: ReadonlyArray<Point>, options: ChartOptions): (() => void) => {
  const days = points.map(({ date }) => Date.parse(`${date.slice(0, 10)}T00:00:00Z`) / 1_000)
  const values = points.map(({ value }) => value)
  let drawn: uPlot | undefined
  const redraw = () => {
    drawn?.destroy()
    drawn = new uPlot(settings(element.clientWidth, days, points, options), [days, values], element)
  }
  const observer = new ResizeObserver(() => {
    if (drawn === undefined) redraw()
    else drawn.setSize({ width: element.clientWidth, height: HEIGHT_PX })
  })
  observer.observe(element)
  const scheme = matchMedia(DARK)
  scheme.addEventListener("change", redraw)
  return () => {
    observer.disconnect()
    scheme.removeEventListener("change", redraw)
    drawn?.destroy()
  }
}

const settings = (
  width: number,
  days: ReadonlyArray<number>,
  points: ReadonlyArray<Point>,
  options: ChartOptions
): uPlot.Options => {
  const style = getComputedStyle(document.documentElement)
  const color = (name: string) => style.getPropertyValue(`--${name}`).trim()
  const { format, from = 0, pointLabel = "Day", to, unit } = options
  const axis = {
    stroke: color("muted"),
    grid: { stroke: color("line"), width: 1 },
    ticks: { stroke: color("line"), width: 1 },
    font: "12px system-ui, sans-serif"
  }
  const ticks = scaleTicks(from, to ?? Math.max(from, ...points.map(({ value }) => value ?? from)))
  // Half of the distance between two points, so that the scale has no day beyond the last one.
  const margin = ((days[1] ?? SECONDS_PER_DAY) - (days[0] ?? 0)) / 2
  return {
    width,
    height: HEIGHT_PX,
    // Days are UTC days.
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1_000), "UTC"),
    cursor: { y: false },
    plugins: [tooltip(points, options)],
    legend: { show: false },
    scales: {
      x: { range: () => [(days[0] ?? 0) - margin, (days.at(-1) ?? 0) + margin] },
      y: { range: () => [from, to ?? ticks.at(-1)!] }
    },
    axes: [
      { ...axis, values: (_, splits) => splits.map((split) => shortDay(split)) },
      {
        ...axis,
        size: 76,
        splits: () => ticks.filter((tick) => to === undefined || tick <= to),
        values: (_, splits) => splits.map((split) => format(split))
      }
    ],
    series: [
      { label: pointLabel },
      {
        label: unit,
        stroke: color("accent"),
        ...(options.kind === "line"
          ? { width: 2, points: { show: days.length <= POINTS_SHOWN_MAX, size: 5 } }
          : {
              width: 0,
              fill: color("accent"),
              points: { show: false },
              paths: uPlot.paths.bars!({ size: [0.7, 28] })
            })
      }
    ]
  }
}

/** Day and value beside the pointer. */
const tooltip = (points: ReadonlyArray<Point>, { format }: ChartOptions): uPlot.Plugin => {
  const box = document.createElement("div")
  box.className = "chart-tooltip"
  box.hidden = true
  return {
    hooks: {
      init: (chart) => {
        chart.over.append(box)
        chart.over.addEventListener("mouseleave", () => {
          box.hidden = true
        })
      },
      setCursor: (chart) => {
        const { idx: index, left = 0 } = chart.cursor
        const point = index === null || index === undefined ? undefined : points[index]
        box.hidden = point === undefined
        if (point === undefined) return
        box.textContent = `${day(point.date)}: ${point.value === null ? "–" : format(point.value)}`
        const isRight = left > chart.over.clientWidth / 2
        box.style.left = isRight ? "" : `${left + 10}px`
        box.style.right = isRight ? `${chart.over.clientWidth - left + 10}px` : ""
      }
    }
  }
}

const SHORT = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric", timeZone: "UTC" })
const shortDay = (seconds: number): string => SHORT.format(new Date(seconds * 1_000))

interface TimeChartProps extends ChartOptions {
  readonly points: ReadonlyArray<Point>
}

export const TimeChart = (props: TimeChartProps): View => {
  const { format, pointLabel = "Day", points, title, unit } = props
  const element = useRef<HTMLDivElement>(null)
  useEffect(() => drawChart(element.current!, points, props), [JSON.stringify(points)])
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
type Periods = ReadonlyArray<readonly [value: string, label: string]>

const NAME = "period"

/** Empty: the default. Another tab may have periods that this one does not have. */
export const usePeriod = (periods: Periods): string => {
  const chosen = place.value.query.get(NAME) ?? ""
  return periods.some(([value]) => value === chosen) ? chosen : ""
}

/** The period that a tab shows, kept in the query of the address. */
export const PeriodChoice = ({ id, periods }: { readonly id: string; readonly periods: Periods }): View =>
  h(Choice, {
    id,
    label: "Period",
    choices: periods,
    value: usePeriod(periods),
    changed: (value) => setQuery({ [NAME]: value })
  })
