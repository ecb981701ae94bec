/**
 * The page /catalog/:id: the call form, how the provider did, and times in the reader's own zone.
 */
import type { ToolDetails, ToolSla } from "../kit/Answers.browser.ts"
import { ask, words } from "../kit/Api.browser.ts"
import type { Schema } from "../kit/Arguments.browser.ts"
import { callForm } from "./CallForm.browser.ts"
import { chart } from "../kit/Chart.browser.ts"
import { button, el, empty, figures, fill, notice } from "../kit/Dom.browser.ts"
import { count, milliseconds, moment, percent } from "../kit/Figures.browser.ts"

/** What the server wrote stays below, for whoever wants the numbers. */
const loaded = async (place: HTMLElement, load: () => Promise<void>): Promise<void> => {
  const kept = [...place.childNodes]
  place.setAttribute("aria-busy", "true")
  try {
    await load()
  } catch (error) {
    fill(
      place,
      notice("bad", words(error)),
      button("Try again", () => void loaded(place, load), "plain"),
      kept
    )
  } finally {
    place.setAttribute("aria-busy", "false")
  }
}

const showSla = async (place: HTMLElement): Promise<void> => {
  const sla = await ask<ToolSla>("GET", `/api/v1/market/tools/${place.dataset["tool"]!}/sla`)
  const kept = [...place.childNodes]
  if (sla.total_calls_30d === 0) {
    return fill(place, empty("Nobody called it within the last 30 days: there is nothing to show yet."), kept)
  }
  const uptimes = sla.by_day.map(({ date, uptime }) => ({ date, value: uptime }))
  const worst = Math.min(...uptimes.flatMap(({ value }) => (value === null ? [] : [value])))
  fill(
    place,
    figures([
      ["Calls", count(sla.total_calls_30d), "of this tool"],
      [
        "Succeeded",
        sla.uptime_30d === null ? "–" : percent(sla.uptime_30d / 100),
        `${count(sla.timeout_calls_30d)} not in time`
      ],
      ["Latency, p95", milliseconds(sla.p95_latency_ms), `half within ${milliseconds(sla.p50_latency_ms)}`]
    ]),
    el(
      "div",
      { class: "charts" },
      titled(
        "Calls",
        chart(
          sla.by_day.map(({ calls, date }) => ({ date, value: calls })),
          { title: "Calls by day", unit: "Calls", format: count }
        )
      ),
      titled(
        "Succeeded",
        chart(uptimes, {
          title: "Success by day",
          unit: "Succeeded",
          kind: "line",
          from: worst < 90 ? 0 : 90,
          to: 100.2,
          format: (value) => (value > 100 ? "" : `${Number(value.toFixed(2))} %`)
        })
      ),
      titled(
        "Latency, p95",
        chart(
          sla.by_day.map(({ date, p95_latency_ms: value }) => ({ date, value })),
          { title: "Latency by day", unit: "Latency, p95", kind: "line", format: milliseconds }
        )
      )
    ),
    kept
  )
}

const titled = (title: string, shown: HTMLElement): HTMLElement => el("div", {}, el("h3", {}, title), shown)

const showCall = async (place: HTMLElement): Promise<void> => {
  const { price, sample, tool: id } = place.dataset
  const tool = await ask<ToolDetails>("GET", `/api/v1/market/tools/${id!}`, { isFresh: true })
  if (tool.withdrawn_at !== null) return fill(place, notice("", "Its provider withdrew this tool a moment ago."))
  callForm(place, tool, JSON.parse(sample!) as Schema)
  // The page may have been kept for a minute; what the button says holds.
  if (price !== tool.pricing.price) {
    place.prepend(notice("", `Its price has changed a moment ago. A call costs ${tool.pricing.price} now.`))
  }
}

for (const time of document.querySelectorAll("time")) time.replaceWith(moment(time.dateTime))
for (const [id, show] of [
  ["call", showCall],
  ["sla", showSla]
] as const) {
  // A tool that was withdrawn has no form.
  const place = document.querySelector<HTMLElement>(`#${id}`)
  if (place !== null) void loaded(place, () => show(place))
}
