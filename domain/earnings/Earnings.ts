/**
 * `Payouts.earnings`: gross, the platform's fee, and net, by tool and by week. Every total equals its parts to the
 * microcent.
 */
import { Context, DateTime, Effect, Layer, Option } from "effect"
import { AccountStore } from "../accounts/Account.ts"
import { Ledger } from "../ledger/Ledger.ts"
import { periodDays, sumUp, type UsageOfToolDay, UsageStore } from "../metering/Usage.ts"
import type { ProviderId, ToolId } from "../shared/Ids.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"
import { CurrentEarningsPolicy, type EarningStates, earningStatesOf } from "./EarningStates.ts"
import { PayeeStore } from "./PayoutStore.ts"

/** A provider's earnings that were not paid out, by what they wait for. */
export interface ProviderHoldings extends EarningStates {
  readonly frozenMicrocents: bigint
  /** All four states together. */
  readonly pendingMicrocents: bigint
  readonly reserveLifted: boolean
  /** Nothing is paid out, whatever is available. */
  readonly isFrozen: boolean
}

/** A provider's money by state. */
export class ProviderMoney extends Context.Service<
  ProviderMoney,
  {
    holdings(providerId: ProviderId): Effect.Effect<ProviderHoldings, StoreUnavailable>
    /** The operator lifts or restores the rolling reserve of a provider. */
    setReserveLifted(providerId: ProviderId, lifted: boolean): Effect.Effect<void, StoreUnavailable>
  }
>()("agent-tool-billing/domain/earnings/ProviderMoney") {
  static readonly layer = Layer.effect(
    ProviderMoney,
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const accounts = yield* AccountStore
      const payees = yield* PayeeStore
      const policy = yield* CurrentEarningsPolicy

      const holdings = Effect.fn("ProviderMoney.holdings")(function* (providerId: ProviderId) {
        const now = yield* DateTime.now
        const lots = yield* ledger.lots(providerId)
        const { frozen } = yield* ledger.provider(providerId)
        const payee = Option.getOrUndefined(yield* payees.find(providerId))
        const provider = Option.getOrUndefined(yield* accounts.findProvider(providerId))
        const reserveLifted = payee?.reserveLifted ?? false
        const states = earningStatesOf(lots, { policy, registeredAt: provider?.createdAt ?? now, reserveLifted }, now)
        const { availableMicrocents, maturingMicrocents, reservedMicrocents } = states
        return {
          ...states,
          frozenMicrocents: frozen,
          pendingMicrocents: maturingMicrocents + reservedMicrocents + availableMicrocents + frozen,
          reserveLifted,
          isFrozen: provider?.frozen !== undefined
        }
      })

      const setReserveLifted = Effect.fn("ProviderMoney.setReserveLifted")(function* (
        providerId: ProviderId,
        lifted: boolean
      ) {
        yield* payees.putReserveLifted(providerId, lifted, yield* DateTime.now)
      })

      return ProviderMoney.of({ holdings, setReserveLifted })
    })
  )
}

/** Periods that end now; `all` starts with the first call. */
export type EarningsPeriod = "7d" | "30d" | "90d" | "all"

/** Sums over completed calls. Net is gross minus the platform fee. */
export interface EarningsTotals {
  readonly calls: number
  readonly grossMicrocents: bigint
  readonly feeMicrocents: bigint
  readonly netMicrocents: bigint
}

export interface EarningsOfTool extends EarningsTotals {
  readonly toolId: ToolId
  readonly toolName: string
}

export interface EarningsOfWeek extends EarningsTotals {
  /** The Monday that it starts with, `2026-11-16`, UTC. */
  readonly weekOf: string
}

/** A provider's earnings of a period: in all, by tool and by week. */
export interface EarningsSummary {
  readonly total: EarningsTotals
  /** Highest earnings first. */
  readonly byTool: ReadonlyArray<EarningsOfTool>
  /** Every week of the period, also without calls; oldest first. */
  readonly byWeek: ReadonlyArray<EarningsOfWeek>
}

export const makeEarnings = Effect.gen(function* () {
  const usage = yield* UsageStore

  const earnings = Effect.fn("Payouts.earnings")(function* (providerId: ProviderId, period: EarningsPeriod) {
    const now = yield* DateTime.now
    const since = startOf(period, now)
    const rows = yield* usage.byToolAndDay({ role: "provider", ownerId: providerId }, since)
    return summarizeEarnings(rows, period === "all" ? undefined : since, now)
  })

  return { earnings }
})

/** Starts with the first week with calls, unless `since` is given. */
const summarizeEarnings = (
  rows: ReadonlyArray<UsageOfToolDay>,
  since: DateTime.Utc | undefined,
  now: DateTime.Utc
): EarningsSummary => {
  const byTool = [...Map.groupBy(rows, (row) => row.toolId)].map(([toolId, parts]): EarningsOfTool => ({
    ...earned(parts),
    toolId,
    toolName: parts[0]!.toolName
  }))
  const byMonday = Map.groupBy(rows, (row) => mondayOf(row.date))
  const first = since === undefined ? [...byMonday.keys()].toSorted()[0] : mondayOf(DateTime.formatIsoDateUtc(since))
  const weeks = first === undefined ? [] : mondays(first, mondayOf(DateTime.formatIsoDateUtc(now)))
  return {
    total: earned(rows),
    byTool: byTool.toSorted((a, b) =>
      a.netMicrocents === b.netMicrocents ? (a.toolId < b.toolId ? -1 : 1) : a.netMicrocents < b.netMicrocents ? 1 : -1
    ),
    byWeek: weeks.map((weekOf) => ({ weekOf, ...earned(byMonday.get(weekOf) ?? []) }))
  }
}

const earned = (parts: ReadonlyArray<UsageOfToolDay>): EarningsTotals => {
  const { calls, feeMicrocents, spendMicrocents } = sumUp(parts)
  return {
    calls,
    grossMicrocents: spendMicrocents,
    feeMicrocents,
    netMicrocents: spendMicrocents - feeMicrocents
  }
}

const startOf = (period: EarningsPeriod, now: DateTime.Utc): DateTime.Utc =>
  period === "all"
    ? DateTime.makeUnsafe(0)
    : DateTime.startOf(DateTime.subtract(now, { days: periodDays[period] }), "hour")

const mondayOf = (date: string): string =>
  DateTime.formatIsoDateUtc(DateTime.startOf(DateTime.makeUnsafe(`${date}T00:00:00.000Z`), "week", { weekStartsOn: 1 }))

const mondays = (first: string, last: string): ReadonlyArray<string> => {
  const weeks: Array<string> = []
  for (let week = first; week <= last;) {
    weeks.push(week)
    week = DateTime.formatIsoDateUtc(DateTime.add(DateTime.makeUnsafe(`${week}T00:00:00.000Z`), { days: 7 }))
  }
  return weeks
}
