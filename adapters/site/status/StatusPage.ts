/**
 * The status page. It works without scripts and while the database is down.
 */
import { Duration, Effect, Exit } from "effect"
import { type Check, type Condition, Health, type HealthReport } from "../../../domain/platform/Health.ts"
import { HealthHistory, HISTORY_DAYS } from "../../../domain/platform/HealthHistory.ts"
import { giveUpAfter } from "../../../domain/shared/Deadlines.ts"
import { format } from "../../../domain/shared/Time.ts"
import { uncached } from "../../http/contract/Access.ts"
import { RateLimits } from "../../http/pipeline/RateLimits.ts"
import { documentRoute, type EncodedReply } from "../../http/pipeline/Route.ts"
import { table } from "../kit/Elements.ts"
import { type Html, html } from "../kit/Html.ts"
import { makeSite, type Site } from "../kit/Site.ts"
import { historySection, nameOf } from "./StatusHistory.ts"
import { statusStyle } from "./StatusStyle.ts"

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
    module: "status/StatusPage",
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
