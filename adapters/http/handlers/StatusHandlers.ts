/**
 * The record of health checks over HTTP.
 */
import { DateTime, Effect } from "effect"
import {
  type CheckHistory,
  type DayOfCheck,
  HealthHistory,
  HISTORY_DAYS,
  samplesOf,
  operationalShare
} from "../../../domain/platform/HealthHistory.ts"
import { format } from "../../../domain/shared/Timestamp.ts"
import { StatusApi } from "../api/StatusApi.ts"
import { route } from "../pipeline/Route.ts"

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

/** Rounded down: 100 means without any failure. */
export const percentOf = (share: number | undefined): number | null =>
  share === undefined ? null : Math.floor(share * 100_000) / 1_000
