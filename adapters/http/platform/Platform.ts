/**
 * Health and its record, counts, the schema, waitlist and feedback over HTTP.
 */
import { DateTime, Duration, Effect } from "effect"
import { Claims } from "../../../domain/earnings/Claims.ts"
import { PlatformFunds } from "../../../domain/ledger/PlatformFunds.ts"
import { APPLY_MIGRATIONS, Health, type HealthReport, SchemaKeeper } from "../../../domain/platform/Health.ts"
import {
  type CheckHistory,
  type DayOfCheck,
  HealthHistory,
  HISTORY_DAYS,
  operationalShare,
  samplesOf
} from "../../../domain/platform/HealthHistory.ts"
import { PlatformStats } from "../../../domain/platform/PlatformStats.ts"
import { Submissions, Waitlist } from "../../../domain/platform/Submissions.ts"
import { format } from "../../../domain/shared/Time.ts"
import { API_VERSION, API_VERSION_OF, BaseUrl } from "../contract/BaseUrl.ts"
import { replyRoute, route } from "../pipeline/Route.ts"
import { RateLimits } from "../pipeline/Stages.ts"
import { fieldsOf } from "../pipeline/Views.ts"
import { Draining } from "../pipeline/WebRequest.ts"
import { PlatformApi, StatusApi, SubmissionsApi } from "./PlatformApi.ts"

// The health of a node as the API shows it.

const INIT = "POST /api/v1/init applies the pending migrations."

export const healthView = ({ at, checks, status, uptimeSeconds }: HealthReport) => ({
  status,
  version: API_VERSION,
  version_of: API_VERSION_OF,
  uptime_s: uptimeSeconds,
  timestamp: format(at),
  checks: Object.fromEntries(
    checks.map((one) => [
      one.name,
      {
        status: one.status,
        latency_ms: one.latencyMs,
        ...(one.message === undefined ? {} : { message: one.message.replace(APPLY_MIGRATIONS, INIT) })
      }
    ])
  )
})

// The solvency report as the operator sees it.

export const solvencyReport = Effect.map(
  Effect.all([PlatformFunds, Claims]),
  ([funds, claims]) =>
    () =>
      reportOf(funds, claims)
)

const reportOf = Effect.fnUntraced(function* (funds: PlatformFunds["Service"], claims: Claims["Service"]) {
  const found = yield* funds.solvency
  const owed = yield* claims.totals
  return {
    ...fieldsOf(found, "spendableMicrocents", "receivedMicrocents", "sentMicrocents", "recordedLossesMicrocents"),
    ...fieldsOf(found, "shortfallMicrocents", "unbackedMicrocents", "platformFundsMicrocents"),
    claims_on_providers_microcents: Number(owed.byProvidersMicrocents),
    claims_on_platform_microcents: Number(owed.byPlatformMicrocents),
    advanced_microcents: Number(owed.advancedMicrocents),
    timestamp: format(yield* DateTime.now)
  }
})

const { endpoints } = PlatformApi

/** Clients of this endpoint are not rate limited: the store is asked at most once a second. */
const READY_TTL = Duration.seconds(1)

export const platformRoutes = Effect.gen(function* () {
  const health = yield* Health
  const limits = yield* RateLimits
  const draining = yield* Draining
  const schema = yield* SchemaKeeper
  const stats = yield* PlatformStats
  const isReady = yield* Effect.cachedWithTTL(health.isReady, READY_TTL)

  return [
    replyRoute(endpoints.platformHealth, function* () {
      const report = yield* health.check([limits.probe])
      return { status: report.status === "down" ? 503 : 200, body: healthView(report) }
    }),
    route(endpoints.livez, () => Effect.succeed({ status: "ok" as const })),
    replyRoute(endpoints.readyz, () =>
      Effect.map(Effect.all([draining.isBegun, isReady]), ([drains, ready]) => {
        if (drains) return { status: 503, body: { status: "draining" as const } }
        return ready
          ? { status: 200, body: { status: "ok" as const } }
          : { status: 503, body: { status: "down" as const } }
      })
    ),
    route(endpoints.platformStats, function* () {
      const { lastDay, since, totals } = yield* stats.read
      const body = {
        totals,
        last_24h: { since: format(since), ...lastDay },
        timestamp: format(yield* DateTime.now)
      }
      return body
    }),
    route(endpoints.init, function* () {
      const { applied, tables, version } = yield* schema.bringUpToDate
      return {
        initialized: true as const,
        applied,
        schema_version: version,
        tables,
        message: applied.length === 0 ? "The schema was up to date." : `Applied ${applied.join(", ")}.`
      }
    })
  ]
})

export const statusRoutes = Effect.gen(function* () {
  const history = yield* HealthHistory
  return [
    route(StatusApi.endpoints.history, function* ({ query: { days = HISTORY_DAYS } }) {
      const checks = yield* history.read(days)
      const dates = checks[0]!.days.map(({ date }) => date)
      return {
        days,
        from: dates[0]!,
        to: dates.at(-1)!,
        checks: checks.map(toBody),
        timestamp: format(yield* DateTime.now)
      }
    })
  ]
})

const toBody = ({ days, name }: CheckHistory) => ({
  name,
  ...outcomesOf(days),
  by_day: days.map((day) => ({ date: day.date, ...outcomesOf([day]) }))
})

const outcomesOf = (days: ReadonlyArray<DayOfCheck>) => {
  const sum = (of: (day: DayOfCheck) => number) => days.reduce((total, day) => total + of(day), 0)
  return {
    samples: sum(samplesOf),
    ok: sum(({ ok }) => ok),
    degraded: sum(({ degraded }) => degraded),
    down: sum(({ down }) => down),
    good_pct: percentOf(operationalShare(days))
  }
}

/** Rounds down: 100 means without any failure. */
export const percentOf = (share: number | undefined): number | null =>
  share === undefined ? null : Math.floor(share * 100_000) / 1_000

// Waitlist, feedback and applications over HTTP.

export const submissionsRoutes = Effect.gen(function* () {
  const waitlist = yield* Waitlist
  const submissions = yield* Submissions
  const baseUrl = yield* BaseUrl

  return [
    replyRoute(SubmissionsApi.endpoints.joinWaitlist, function* ({ payload: { email, source } }) {
      const id = yield* waitlist.join(email, source ?? "")
      return id === undefined
        ? { status: 200, body: { message: "This address is on the waitlist already.", email } }
        : { status: 201, body: { message: "You are on the waitlist.", email, id } }
    }),
    route(SubmissionsApi.endpoints.giveFeedback, function* ({ payload }) {
      const { id } = yield* submissions.submit("feedback", payload)
      return { received: true as const, id, message: "Thank you. Your feedback is stored." }
    }),
    route(SubmissionsApi.endpoints.apply, function* ({ payload }) {
      const { id } = yield* submissions.submit("application", payload)
      return {
        received: true as const,
        id,
        message: "Your application is stored.",
        next_steps: [
          `Agents register with POST ${baseUrl}/api/market/register-consumer`,
          `Providers register with POST ${baseUrl}/api/market/register-provider`
        ]
      }
    })
  ]
})
