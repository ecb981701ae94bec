/**
 * The record as bars of days, each with what it says in words, and the days that were not good as a table.
 */
import {
  type CheckHistory,
  type DayOfCheck,
  samplesOf,
  shareOfGood,
  WHOLE_SERVICE
} from "../../../domain/platform/HealthHistory.ts"
import { percentOf } from "../../http/handlers/StatusHandlers.ts"
import { type Html, html } from "../kit/Html.ts"

export const historySection = (checks: ReadonlyArray<CheckHistory>): Html => {
  return html`<ul class="legend">
      <li><i></i> All checks were good</li>
      <li><i class="degraded"></i> Some were degraded</li>
      <li><i class="down"></i> Some failed</li>
      <li><i class="none"></i> No record</li>
    </ul>
    ${checks.map((check) => row(check))}
    <h3>Days that were not all good</h3>
    ${exceptions(checks)}
    <p class="small muted">
      Every node checks every part once a minute; days are those of UTC. What hangs from the top of a bar was not good,
      the longer the more of the day it was. A day without a record is shown as such: nobody looked, so nobody can say
      that it was good. For machines: <a href="/api/v1/status/history">/api/v1/status/history</a>.
    </p>`
}

const NAMES: Readonly<Record<string, string>> = {
  [WHOLE_SERVICE]: "The whole service",
  background: "Background work",
  database: "Database",
  disk: "Disk",
  rate_limits: "Rate limits",
  schema: "Database schema"
}

export const nameOf = (check: string): string => NAMES[check] ?? check

const row = ({ days, name }: CheckHistory): Html => {
  const share = percentOf(shareOfGood(days))
  const recorded = days.filter((day) => samplesOf(day) > 0).length
  const id = `history-${name.replace(/\W/gu, "-")}`
  return html`<section class="row" aria-labelledby="${id}">
    <div class="toolbar">
      <h3 id="${id}">${nameOf(name)}</h3>
      <span class="number">
        ${
          share === null
            ? "No record yet"
            : html`<strong>${percentText(share)}</strong> good
                <span class="muted">over ${recorded === 1 ? "1 day" : `${recorded} days`} on record</span>`
        }
      </span>
    </div>
    <ol class="bars" role="list" aria-label="${nameOf(name)}, day by day">
      ${days.map((day) => html`<li class="${shapeOf(day)}"><span>${wordsFor(day)}</span></li>`)}
    </ol>
    <p class="ends" aria-hidden="true"><span>${days.length - 1} days ago</span><span>today</span></p>
  </section>`
}

/** Of a day, how much was not good, in four steps. */
const STEPS = [0.01, 0.1, 0.5] as const

export const shapeOf = (day: DayOfCheck): string => {
  const all = samplesOf(day)
  if (all === 0) return "none"
  const bad = (day.degraded + day.down) / all
  if (bad === 0) return "good"
  const step = STEPS.filter((limit) => bad > limit).length + 1
  return `${day.down > 0 ? "down" : "degraded"} d${step}`
}

export const wordsFor = (day: DayOfCheck): string => {
  const all = samplesOf(day)
  if (all === 0) return `${dayText(day.date)}: no record`
  const parts = [
    ...(day.degraded === 0 ? [] : [`${day.degraded.toLocaleString("en-US")} degraded`]),
    ...(day.down === 0 ? [] : [`${day.down.toLocaleString("en-US")} failed`])
  ]
  const share = percentText(percentOf(shareOfGood([day]))!)
  return `${dayText(day.date)}: ${share} good${parts.length === 0 ? "" : `, ${parts.join(", ")}`} of ${all.toLocaleString("en-US")}`
}

const exceptions = (checks: ReadonlyArray<CheckHistory>): Html => {
  const found = checks
    .flatMap(({ days, name }) => days.map((day) => ({ day, name })))
    .filter(({ day }) => day.degraded + day.down > 0)
    .toSorted((a, b) => (a.day.date < b.day.date ? 1 : a.day.date > b.day.date ? -1 : 0))
  if (found.length === 0) return html`<p>None on record.</p>`
  return html`<div class="scroll" role="region" aria-label="Days that were not all good" tabindex="0">
    <table>
      <thead>
        <tr>
          <th scope="col">Day</th>
          <th scope="col">Check</th>
          <th scope="col" class="right">Good</th>
          <th scope="col" class="right">Degraded</th>
          <th scope="col" class="right">Failed</th>
        </tr>
      </thead>
      <tbody>
        ${found.map(
          ({ day, name }) =>
            html`<tr>
              <th scope="row" class="nowrap">${dayText(day.date)}</th>
              <td>${nameOf(name)}</td>
              <td class="right number nowrap">${percentText(percentOf(shareOfGood([day]))!)}</td>
              <td class="right number nowrap">${day.degraded.toLocaleString("en-US")}</td>
              <td class="right number nowrap">${day.down.toLocaleString("en-US")}</td>
            </tr>`
        )}
      </tbody>
    </table>
  </div>`
}

const percentText = (percent: number): string => `${percent.toLocaleString("en-US", { maximumFractionDigits: 3 })} %`

const DAY = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" })

const dayText = (date: string): string => DAY.format(Date.parse(`${date}T00:00:00Z`))
