/**
 * The status page. It works without scripts and while the database is down.
 */
import { Duration, Effect, Exit } from "effect"
import { type Check, type Condition, Health, type HealthReport } from "../../../domain/platform/Health.ts"
import {
  type CheckHistory,
  type DayOfCheck,
  HealthHistory,
  HISTORY_DAYS,
  operationalShare,
  samplesOf,
  WHOLE_SERVICE
} from "../../../domain/platform/HealthHistory.ts"
import { giveUpAfter } from "../../../domain/shared/Deadlines.ts"
import { format } from "../../../domain/shared/Time.ts"
import { uncached } from "../../http/contract/Endpoint.ts"
import { documentRoute, type EncodedReply } from "../../http/pipeline/Route.ts"
import { RateLimits } from "../../http/pipeline/Stages.ts"
import { percentOf } from "../../http/platform/Platform.ts"
import { type Html, html, table } from "../kit/Html.ts"
import { makeSite, type Site } from "../kit/Site.ts"

// Styles of the status page. The failed share of a day hangs from the top of its bar.

const statusStyle = `
.status{--good:#1f7a56;--warn:#a85f00;--down:#b3261e}
@media (prefers-color-scheme:dark){.status{--good:#3fae85;--warn:#f0b13c;--down:#ff7a6b}}
.summary{display:grid;gap:.15rem;border-radius:14px;padding:1.1rem 1.25rem;border:1px solid var(--line);border-left:.5rem solid var(--good);background:var(--panel);margin:0 0 1.5rem}
.summary strong{font-size:1.35rem;letter-spacing:-.015em}
.summary.degraded{border-left-color:var(--warn)}
.summary.down{border-left-color:var(--down)}
.condition{white-space:nowrap;font-weight:600}
.condition::before{content:"";display:inline-block;width:.65rem;height:.65rem;border-radius:50%;background:var(--good);margin-right:.5rem}
.condition.degraded::before{background:var(--warn);border-radius:0;transform:rotate(45deg) scale(.85)}
.condition.down::before{background:var(--down);border-radius:0}
.checks caption{display:none}
.checks td,.checks th{padding-top:.5rem;padding-bottom:.5rem}
.checks small{display:block;color:var(--muted)}
.row{padding:1.1rem 0 .4rem;border-top:1px solid var(--line)}
.status>section{margin-top:2.75rem}
.row h3{font-size:1.05rem;margin:0;letter-spacing:0;overflow-wrap:anywhere;min-width:0}
.row+h3{margin-top:2.25rem}
.row .toolbar{align-items:baseline;margin-bottom:.5rem}
.row:first-of-type h3{font-size:1.25rem}
.bars{list-style:none;display:flex;gap:1px;padding:0 0 1.7rem;margin:0;height:4rem;position:relative}
.row:first-of-type .bars{height:5rem}
.bars li{flex:1 1 0;min-width:0;margin:0;border-radius:2px;background:linear-gradient(to top,var(--good) var(--to,100%),var(--ground) var(--to,100%) calc(var(--to,100%) + 2px),var(--bad,var(--good)) calc(var(--to,100%) + 2px))}
.bars .degraded{--bad:var(--warn)}
.bars .down{--bad:var(--down)}
.bars .d1{--to:78%}.bars .d2{--to:60%}.bars .d3{--to:30%}.bars .d4{--to:-2px}
.bars .none{background:var(--tint);border-bottom:2px dotted var(--muted)}
.bars span{position:absolute;left:0;bottom:0;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);font-size:.875rem;white-space:nowrap}
.bars li:hover span{width:auto;height:auto;max-width:100%;overflow:hidden;clip-path:none;background:var(--ground);text-overflow:ellipsis;z-index:1;min-width:100%}
.bars li:hover{outline:2px solid var(--ink);outline-offset:0}
.ends{display:flex;justify-content:space-between;color:var(--muted);font-size:.8125rem;margin:-1.6rem 0 .3rem}
.legend{display:flex;flex-wrap:wrap;gap:.3rem 1.4rem;padding:0;list-style:none;color:var(--muted);font-size:.9375rem}
.legend li{margin:0;display:flex;align-items:center;gap:.5rem}
.legend i{display:inline-block;width:.5rem;height:1.2rem;border-radius:2px;background:var(--good)}
.legend .degraded{background:linear-gradient(to top,var(--good) 60%,var(--warn) 60%)}
.legend .down{background:linear-gradient(to top,var(--good) 60%,var(--down) 60%)}
.legend .none{background:var(--tint);border-bottom:2px dotted var(--muted)}
`

// The health history: one bar per day and check, and a table of incidents.

const historySection = (checks: ReadonlyArray<CheckHistory>): Html => {
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

const nameOf = (check: string): string => NAMES[check] ?? check

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

const shapeOf = (day: DayOfCheck): string => {
  const all = samplesOf(day)
  if (all === 0) return "none"
  const bad = (day.degraded + day.down) / all
  if (bad === 0) return "good"
  const step = STEPS.filter((limit) => bad > limit).length + 1
  return `${day.down > 0 ? "down" : "degraded"} d${step}`
}

const summaryOf = (day: DayOfCheck): string => {
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

const PAGE_TTL = Duration.seconds(1)
const HISTORY_TTL = Duration.seconds(5)
const HISTORY_TIMEOUT = Duration.seconds(2)

export const statusPageRoutes = Effect.gen(function* () {
  const site = yield* makeSite
  const health = yield* Health
  const history = yield* HealthHistory
  const limits = yield* RateLimits
  const cachedHistory = yield* Effect.cachedWithTTL(
    Effect.map(giveUpAfter(HISTORY_TIMEOUT)(history.read(HISTORY_DAYS)), historySection),
    (exit) => (Exit.isSuccess(exit) ? HISTORY_TTL : Duration.zero)
  )
  const historyIfAvailable = Effect.catchCause(cachedHistory, () => Effect.undefined)
  const page = Effect.map(
    Effect.all([health.check([limits.probe]), historyIfAvailable], { concurrency: 2 }),
    ([report, known]) => statusPage(site, report, known)
  )
  const cached = yield* Effect.cachedWithTTL(page, PAGE_TTL)
  return [documentRoute("/status", uncached, cached, "Service status")]
})

const statusPage = (site: Site, report: HealthReport, known: Html | undefined): EncodedReply =>
  site({
    title: "Status",
    description: `Current status of Agent Tool Billing and its health checks of the last ${HISTORY_DAYS} days.`,
    path: "/status",
    modules: ["kit/LocalTimes"],
    style: statusStyle,
    body: html`
      <div class="status">
        <h1>Status</h1>
        ${summary(report)}
        <section aria-labelledby="now">
          <h2 id="now">Current status</h2>
          <div class="checks">${checksTable(report.checks)}</div>
        </section>
        <section aria-labelledby="history">
          <h2 id="history">Last ${HISTORY_DAYS} days</h2>
          ${
            known ??
            html`<p class="notice bad" role="alert">
              The history is unavailable because the database is not responding. Checks continue and will be added
              later.
            </p>`
          }
        </section>
      </div>
    `
  })

const SENTENCES: Readonly<Record<Condition, string>> = {
  ok: "All systems operational",
  degraded: "Degraded performance",
  down: "Service outage"
}

const summary = ({ at, status }: HealthReport): Html =>
  html`<p class="summary ${status}" role="status">
    <strong>${SENTENCES[status]}</strong>
    <span class="muted"> Checked <time datetime="${format(at)}" data-moment>${utcText(format(at))}</time>. </span>
  </p>`

const CONDITIONS: Readonly<Record<Condition, string>> = { ok: "Operational", degraded: "Degraded", down: "Down" }

const checksTable = (checks: ReadonlyArray<Check>): Html =>
  table(
    "Checks",
    [{ name: "Check" }, { name: "Status" }, { name: "Latency", isNumber: true }],
    checks.map(({ latencyMs, message, name, status }) => [
      [nameOf(name), message === undefined ? undefined : html`<small>${message}</small>`],
      html`<span class="condition ${status}">${CONDITIONS[status]}</span>`,
      latencyText(latencyMs)
    ])
  )

const latencyText = (ms: number): string =>
  ms < 10 ? `${ms.toFixed(ms < 0.1 ? 2 : 1)} ms` : `${Math.round(ms).toLocaleString("en-US")} ms`

const utcText = (timestamp: string): string => `${timestamp.slice(0, 10)} ${timestamp.slice(11, 16)} UTC`
