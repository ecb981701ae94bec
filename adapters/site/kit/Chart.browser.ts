/**
 * A chart of values by day or week, with the same values as a table.
 */
import type uPlotLibrary from "uplot"
import { el } from "./Dom.browser.ts"
import { day } from "./Format.browser.ts"
import { table } from "./Table.browser.ts"

/** Loaded by the page before its modules. */
declare const uPlot: typeof uPlotLibrary

export interface Point {
  readonly date: string
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

export const chart = (points: ReadonlyArray<Point>, options: ChartOptions): HTMLElement => {
  const place = el("div", { class: "chart", role: "img", "aria-label": `${options.title}, as a chart` })
  draw(place, points, options)
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

const draw = (place: HTMLElement, points: ReadonlyArray<Point>, options: ChartOptions): void => {
  const days = points.map(({ date }) => Date.parse(`${date.slice(0, 10)}T00:00:00Z`) / 1_000)
  const values = points.map(({ value }) => value)
  let drawn: uPlotLibrary | undefined
  const redraw = () => {
    drawn?.destroy()
    drawn = new uPlot(settings(place.clientWidth, days, options), [days, values], place)
  }
  const observer = new ResizeObserver(() => {
    if (!place.isConnected) {
      observer.disconnect()
      drawn?.destroy()
    } else if (drawn === undefined) redraw()
    else drawn.setSize({ width: place.clientWidth, height: HEIGHT_PX })
  })
  observer.observe(place)
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw)
}

const settings = (width: number, days: ReadonlyArray<number>, options: ChartOptions): uPlotLibrary.Options => {
  const style = getComputedStyle(document.documentElement)
  const color = (name: string) => style.getPropertyValue(`--${name}`).trim()
  const { pointLabel = "Day", format, from = 0, to, unit } = options
  const axis = {
    stroke: color("muted"),
    grid: { stroke: color("line"), width: 1 },
    ticks: { stroke: color("line"), width: 1 },
    font: "12px system-ui, sans-serif"
  }
  return {
    width,
    height: HEIGHT_PX,
    // Days are UTC days.
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1_000), "UTC"),
    cursor: { y: false },
    scales: {
      x: { range: () => [(days[0] ?? 0) - SECONDS_PER_DAY, (days.at(-1) ?? 0) + SECONDS_PER_DAY] },
      y: { range: (_, __, max) => [from, to ?? (max > from ? max * 1.05 : from + 1)] }
    },
    axes: [
      { ...axis, values: (_, splits) => splits.map((split) => shortDay(split)) },
      { ...axis, size: 76, values: (_, splits) => splits.map((split) => format(split)) }
    ],
    series: [
      {
        label: pointLabel,
        value: (_, seconds) => (seconds === null ? "–" : day(new Date(seconds * 1_000).toISOString()))
      },
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
            }),
        value: (_: uPlotLibrary, value: number | null) => (value === null ? "–" : format(value))
      }
    ]
  }
}

const SHORT = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric", timeZone: "UTC" })
const shortDay = (seconds: number): string => SHORT.format(new Date(seconds * 1_000))
