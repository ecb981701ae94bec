/**
 * The health history: one bar per day and check, and a table of incidents.
 */
import {
  type CheckHistory,
  type DayOfCheck,
  samplesOf,
  operationalShare,
  WHOLE_SERVICE
} from "../../../domain/platform/HealthHistory.ts"
import { percentOf } from "../../http/platform/Platform.ts"
import { table } from "../kit/Elements.ts"
import { type Html, html } from "../kit/Html.ts"

export const historySection = (checks: ReadonlyArray<CheckHistory>): Html => {
  return html`<ul class="legend">
      <li><i></i> Operational</li>
      <li><i class="degraded"></i> Degraded</li>
      <li><i class="down"></i> Down</li>
      <li><i class="none"></i> No data</li>
    </ul>
    ${checks.map((check) => row(check))} ${incidents(checks)}
    <p class="small muted">
      Every node runs each check once a minute. Days are UTC. JSON:
      <a href="/api/v1/status/history">/api/v1/status/history</a>
    </p>`
}

const NAMES: Readonly<Record<string, string>> = {
  [WHOLE_SERVICE]: "Service",
  background: "Background jobs",
  clock: "Clock",
  database: "Database",
  disk: "Disk",
  log: "Transparency log",
  rate_limits: "Rate limits",
  schema: "Database schema"
}

export const nameOf = (check: string): string => NAMES[check] ?? check

const row = ({ days, name }: CheckHistory): Html => {
  const share = percentOf(operationalShare(days))
  const recorded = days.filter((day) => samplesOf(day) > 0).length
  const id = `history-${name.replace(/\W/gu, "-")}`
  return html`<section class="row" aria-labelledby="${id}">
    <div class="toolbar">
      <h3 id="${id}">${nameOf(name)}</h3>
      <span class="number">
        ${
          share === null
            ? "No data yet"
            : html`<strong>${percentText(share)}</strong> operational
                <span class="muted">over ${recorded === 1 ? "1 day" : `${recorded} days`}</span>`
        }
      </span>
    </div>
    <ol class="bars" role="list" aria-label="${nameOf(name)} by day">
      ${days.map((day) => html`<li class="${shapeOf(day)}"><span>${summaryOf(day)}</span></li>`)}
    </ol>
    <p class="ends" aria-hidden="true"><span>${days.length - 1} days ago</span><span>today</span></p>
  </section>`
}

/** Limits of the share of failed checks for each bar height. */
const STEPS = [0.01, 0.1, 0.5] as const

export const shapeOf = (day: DayOfCheck): string => {
  const all = samplesOf(day)
  if (all === 0) return "none"
  const bad = (day.degraded + day.down) / all
  if (bad === 0) return "good"
  const step = STEPS.filter((limit) => bad > limit).length + 1
  return `${day.down > 0 ? "down" : "degraded"} d${step}`
}

export const summaryOf = (day: DayOfCheck): string => {
  const all = samplesOf(day)
  if (all === 0) return `${dayText(day.date)}: no data`
  const parts = [
    ...(day.degraded === 0 ? [] : [`${day.degraded.toLocaleString("en-US")} degraded`]),
    ...(day.down === 0 ? [] : [`${day.down.toLocaleString("en-US")} down`])
  ]
  const share = percentText(percentOf(operationalShare([day]))!)
  return `${dayText(day.date)}: ${share} operational${parts.length === 0 ? "" : `, ${parts.join(", ")}`} of ${all.toLocaleString("en-US")} checks`
}

const incidents = (checks: ReadonlyArray<CheckHistory>): Html => {
  const found = checks
    .flatMap(({ days, name }) => days.map((day) => ({ day, name })))
    .filter(({ day }) => day.degraded + day.down > 0)
    .toSorted((a, b) => (a.day.date < b.day.date ? 1 : a.day.date > b.day.date ? -1 : 0))
  if (found.length === 0) return html`<p>No incidents in this period.</p>`
  return table(
    "Incidents",
    [
      { name: "Day" },
      { name: "Check" },
      { name: "Operational", isNumber: true },
      { name: "Degraded", isNumber: true },
      { name: "Down", isNumber: true }
    ],
    found.map(({ day, name }) => [
      html`<span class="nowrap">${dayText(day.date)}</span>`,
      nameOf(name),
      percentText(percentOf(operationalShare([day]))!),
      day.degraded.toLocaleString("en-US"),
      day.down.toLocaleString("en-US")
    ])
  )
}

const percentText = (percent: number): string => `${percent.toLocaleString("en-US", { maximumFractionDigits: 3 })}%`

const DAY = new Intl.DateTimeFormat("en-US", { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" })

const dayText = (date: string): string => DAY.format(Date.parse(`${date}T00:00:00Z`))
