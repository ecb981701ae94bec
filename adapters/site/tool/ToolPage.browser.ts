/**
 * The interactive parts of a tool's page: call form, service levels, local times.
 */
import { errorMessage, request } from "../kit/ApiRequest.browser.ts"
import type { Schema } from "../kit/ArgumentFields.browser.ts"
import { chart } from "../kit/Chart.browser.ts"
import type { ChartOptions, Point } from "../kit/ChartDrawing.browser.ts"
import { button, el, empty, figures, fill, notice } from "../kit/Dom.browser.ts"
import { count, dateTime, milliseconds, percent } from "../kit/Format.browser.ts"
import type { ToolDetails, ToolSla } from "../kit/ApiResponses.browser.ts"
import { connectPage } from "../connect/ConnectTabs.browser.ts"
import { callForm } from "./CallForm.browser.ts"

/** Keeps the server's content below an error. */
const load = async (place: HTMLElement, show: (place: HTMLElement) => Promise<void>): Promise<void> => {
  const kept = [...place.childNodes]
  place.setAttribute("aria-busy", "true")
  try {
    await show(place)
  } catch (error) {
    fill(
      place,
      notice("bad", errorMessage(error)),
      button("Try again", () => void load(place, show), "plain"),
      kept
    )
  } finally {
    place.setAttribute("aria-busy", "false")
  }
}

const showSla = async (place: HTMLElement): Promise<void> => {
  const sla = await request<ToolSla>("GET", `/api/v1/market/tools/${place.dataset["tool"]!}/sla`)
  const kept = [...place.childNodes]
  if (sla.total_calls_30d === 0) return fill(place, empty("No calls in the last 30 days."), kept)
  const rates = sla.by_day.map(({ date, uptime }) => ({ date, value: uptime }))
  const worst = Math.min(...rates.flatMap(({ value }) => (value === null ? [] : [value])))
  fill(
    place,
    figures([
      ["Calls", count(sla.total_calls_30d)],
      [
        "Success rate",
        sla.uptime_30d === null ? "–" : percent(sla.uptime_30d / 100),
        `${count(sla.timeout_calls_30d)} timed out`
      ],
      ["p95 latency", milliseconds(sla.p95_latency_ms), `p50 ${milliseconds(sla.p50_latency_ms)}`]
    ]),
    el(
      "div",
      { class: "charts" },
      titledChart(
        "Calls",
        sla.by_day.map(({ calls, date }) => ({ date, value: calls })),
        { format: count }
      ),
      titledChart("Success rate", rates, {
        kind: "line",
        from: worst < 90 ? 0 : 90,
        to: 100.2,
        format: (value) => (value > 100 ? "" : `${Number(value.toFixed(2))}%`)
      }),
      titledChart(
        "p95 latency",
        sla.by_day.map(({ date, p95_latency_ms: value }) => ({ date, value })),
        { kind: "line", format: milliseconds }
      )
    ),
    kept
  )
}

const titledChart = (
  unit: string,
  points: ReadonlyArray<Point>,
  options: Omit<ChartOptions, "title" | "unit">
): HTMLElement => el("div", el("h3", unit), chart(points, { title: `${unit} by day`, unit, ...options }))

const showCall = async (place: HTMLElement): Promise<void> => {
  const { price, sample, tool: id } = place.dataset
  const tool = await request<ToolDetails>("GET", `/api/v1/market/tools/${id!}`, { isFresh: true })
  if (tool.withdrawn_at !== null) return fill(place, notice("", "The provider has withdrawn this tool."))
  callForm(place, tool, JSON.parse(sample!) as Schema)
  // The page may be cached; the form always has the current price.
  if (price !== tool.pricing.price) {
    place.prepend(notice("", `The price has changed. A call now costs ${tool.pricing.price}.`))
  }
}

for (const time of document.querySelectorAll("time")) time.replaceWith(dateTime(time.dateTime))
for (const [id, show] of [
  ["call", showCall],
  ["sla", showSla]
] as const) {
  // Withdrawn tools have no call form.
  const place = document.querySelector<HTMLElement>(`#${id}`)
  if (place !== null) void load(place, show)
}
connectPage()
