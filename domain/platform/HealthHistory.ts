/**
 * Daily availability of the service, from its own checks. Samples that the store did not accept are kept until it is
 * back, so that an outage of the store is recorded too.
 */
import { Context, DateTime, Duration, Effect, Layer } from "effect"
import { giveUpAfter } from "../shared/Deadlines.ts"
import { dieUnlessUnavailable, type StoreUnavailable } from "../shared/StoreUnavailable.ts"
import { type Condition, Health, type Probe } from "./Health.ts"

/** The number of times that a check had each result on one day, on all nodes together. */
export interface HealthSamples {
  /** A day of UTC. */
  readonly date: string
  readonly check: string
  readonly ok: number
  readonly degraded: number
  readonly down: number
}

/** Port to results of health checks: totals by day and check, of all nodes. */
export class HealthHistoryStore extends Context.Service<
  HealthHistoryStore,
  {
    /** Adds to the stored totals. */
    add(samples: ReadonlyArray<HealthSamples>): Effect.Effect<void, StoreUnavailable>
    /** Returns the samples from that day on, by day and check. */
    since(date: string): Effect.Effect<ReadonlyArray<HealthSamples>, StoreUnavailable>
    /** Removes the oldest rows before that day; returns how many. */
    prune(before: string, limit: number): Effect.Effect<number, StoreUnavailable>
  }
>()("agent-tool-billing/domain/platform/HealthHistoryStore") {}

export const HISTORY_DAYS = 90
export const HISTORY_DAYS_KEPT = 400

/** The name of the whole service among the checks. */
export const WHOLE_SERVICE = "service"

/** One row per day and check: enough for months without the store. */
export const UNSTORED_ROWS_MAX = 600

const STORE_LIMIT = Duration.seconds(10)
const PRUNED_AT_ONCE_MAX = 10_000

export interface DayOfCheck {
  readonly date: string
  readonly ok: number
  readonly degraded: number
  readonly down: number
}

/** The results of a health check on each day of the last weeks. */
export interface CheckHistory {
  readonly name: string
  /** Every day of the period, oldest first; a day without a record has no samples. */
  readonly days: ReadonlyArray<DayOfCheck>
}

export class HealthHistory extends Context.Service<
  HealthHistory,
  {
    /** Checks the core's and the given probes, and adds the results to the record. */
    sample(others?: ReadonlyArray<Probe>): Effect.Effect<void, StoreUnavailable>
    /** The last days including today, the whole service first. */
    read(days: number): Effect.Effect<ReadonlyArray<CheckHistory>, StoreUnavailable>
    readonly prune: Effect.Effect<number, StoreUnavailable>
  }
>()("agent-tool-billing/domain/platform/HealthHistory") {
  static readonly layer = Layer.effect(
    HealthHistory,
    Effect.gen(function* () {
      const health = yield* Health
      const store = yield* HealthHistoryStore
      let unstored: ReadonlyArray<HealthSamples> = []

      const sample = Effect.fn("HealthHistory.sample")(function* (others: ReadonlyArray<Probe> = []) {
        const { at, checks, status } = yield* health.check(others)
        const date = dateOf(at)
        const seen = [{ name: WHOLE_SERVICE, status }, ...checks].map((one) => oneSample(date, one.name, one.status))
        const rows = totalsOf([...unstored, ...seen]).slice(-UNSTORED_ROWS_MAX)
        unstored = rows
        // An interrupted write may still succeed: a duplicate sample does less harm than a missing outage.
        yield* store.add(rows).pipe(giveUpAfter(STORE_LIMIT), dieUnlessUnavailable)
        unstored = []
      })

      const read = Effect.fn("HealthHistory.read")(function* (days: number) {
        const today = yield* DateTime.now
        const dates = Array.from({ length: days }, (_, n) => dateOf(DateTime.subtract(today, { days: days - 1 - n })))
        return historyOf(dates, yield* store.since(dates[0]!))
      })

      const prune = Effect.gen(function* () {
        const before = DateTime.subtract(yield* DateTime.now, { days: HISTORY_DAYS_KEPT })
        return yield* store.prune(dateOf(before), PRUNED_AT_ONCE_MAX)
      })

      return HealthHistory.of({ sample, read, prune })
    })
  )
}

const dateOf = (instant: DateTime.Utc): string => DateTime.formatIso(instant).slice(0, 10)

const oneSample = (date: string, check: string, status: Condition): HealthSamples => ({
  date,
  check,
  ok: status === "ok" ? 1 : 0,
  degraded: status === "degraded" ? 1 : 0,
  down: status === "down" ? 1 : 0
})

/** One row per day and check, ordered by day and name. */
export const totalsOf = (samples: ReadonlyArray<HealthSamples>): ReadonlyArray<HealthSamples> => {
  const totals = new Map<string, HealthSamples>()
  for (const one of samples) {
    const key = `${one.date} ${one.check}`
    const total = totals.get(key)
    totals.set(key, total === undefined ? one : added(total, one))
  }
  return [...totals.entries()].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, total]) => total)
}

export const added = (a: HealthSamples, b: HealthSamples): HealthSamples => ({
  ...a,
  ok: a.ok + b.ok,
  degraded: a.degraded + b.degraded,
  down: a.down + b.down
})

export const historyOf = (
  dates: ReadonlyArray<string>,
  rows: ReadonlyArray<HealthSamples>
): ReadonlyArray<CheckHistory> => {
  const others = [...new Set(rows.map(({ check }) => check))].filter((name) => name !== WHOLE_SERVICE).toSorted()
  const known = new Map(rows.map((row) => [`${row.date} ${row.check}`, row]))
  return [WHOLE_SERVICE, ...others].map((name) => ({
    name,
    days: dates.map((date) => {
      const { degraded = 0, down = 0, ok = 0 } = known.get(`${date} ${name}`) ?? {}
      return { date, ok, degraded, down }
    })
  }))
}

export const samplesOf = ({ degraded, down, ok }: Omit<DayOfCheck, "date">): number => ok + degraded + down

/** Returns a share from 0 to 1; undefined without samples. */
export const operationalShare = (days: ReadonlyArray<Omit<DayOfCheck, "date">>): number | undefined => {
  const good = days.reduce((total, { ok }) => total + ok, 0)
  const all = days.reduce((total, day) => total + samplesOf(day), 0)
  return all === 0 ? undefined : good / all
}
