/**
 * SLA hours, trust scores and paid calls in memory.
 */
import { DateTime, Effect, Layer, Option } from "effect"
import type { ProviderId } from "../../../domain/shared/Ids.ts"
import { bounded } from "../../../domain/trust/Latencies.ts"
import {
  addedDays,
  PAID_CONSUMER_MICROCENTS_MIN,
  PAID_CONSUMERS_READ_MAX,
  type PaidCalls,
  type PaidDay
} from "../../../domain/trust/PaidCalls.ts"
import { added, type SlaHour } from "../../../domain/trust/Sla.ts"
import {
  type Followed,
  type Pair,
  type ScoreOfDay,
  SlaStore,
  type CatalogScore
} from "../../../domain/trust/SlaStore.ts"
import { MemoryTables } from "../shared/MemoryTables.ts"
import { put } from "../shared/MemoryUnitOfWork.ts"

export const layer = Layer.effect(
  SlaStore,
  Effect.gen(function* () {
    const tables = yield* MemoryTables
    const hours = new Map<ProviderId, ReadonlyMap<string, SlaHour>>()
    const paid = new Map<ProviderId, Map<string, PaidDay>>()
    const changed = new Map<ProviderId, boolean>()
    const catalogScores = new Map<ProviderId, CatalogScore>()
    const scores = new Map<ProviderId, ReadonlyArray<ScoreOfDay>>()

    // Reported calls are not stored here: `MemoryMarketFigures` counts them.
    const add = Effect.fnUntraced(function* ({ days, hours: given }: Followed) {
      for (const one of given) {
        const known = hours.get(one.providerId) ?? new Map<string, SlaHour>()
        const key = `${one.toolId} ${one.hour.epochMilliseconds}`
        const old = known.get(key)
        const sum = old === undefined ? one : added(old, one)
        yield* put(hours, one.providerId, new Map(known).set(key, { ...sum, latencies: bounded(sum.latencies) }))
        yield* put(changed, one.providerId, true)
      }
      for (const day of days) {
        let known = paid.get(day.providerId)
        if (known === undefined) yield* put(paid, day.providerId, (known = new Map()))
        const key = `${day.consumerId} ${day.date}`
        const old = known.get(key)
        yield* put(known, key, old === undefined ? day : addedDays(old, day))
      }
    })

    const known = (providerId: ProviderId, since: DateTime.Utc): ReadonlyArray<SlaHour> =>
      [...(hours.get(providerId)?.values() ?? [])].filter((one) => DateTime.isGreaterThanOrEqualTo(one.hour, since))

    const settle = Effect.fnUntraced(function* (catalogScore: CatalogScore, date: string) {
      const { providerId, score } = catalogScore
      yield* put(catalogScores, providerId, catalogScore)
      if (!changed.has(providerId)) yield* put(changed, providerId, false)
      const earlier = (scores.get(providerId) ?? []).filter((one) => one.date !== date)
      yield* put(scores, providerId, [...earlier, { date, score }])
    })

    const isOld = (providerId: ProviderId, today: string): boolean =>
      (scores.get(providerId)?.at(-1)?.date ?? today) < today

    const prune = Effect.fnUntraced(function* (beforeDay: DateTime.Utc, limit: number) {
      const date = DateTime.formatIsoDateUtc(beforeDay)
      const remaining = [limit, limit, limit]
      /** Whether to delete this row; `lefts` has the remaining limit of each kind. */
      const goes = (kind: number, isOld: boolean): boolean => isOld && remaining[kind]! > 0 && remaining[kind]!-- > 0
      for (const [id, known] of hours) {
        const left = [...known].filter(([, one]) => !goes(0, DateTime.isLessThan(one.hour, beforeDay)))
        if (left.length < known.size) yield* put(hours, id, new Map(left))
      }
      for (const [id, known] of scores) {
        const left = known.filter((one) => !goes(1, one.date < date))
        if (left.length < known.length) yield* put(scores, id, left)
      }
      for (const [id, known] of paid) {
        const left = [...known].filter(([, day]) => !goes(2, day.date < date))
        if (left.length < known.size) yield* put(paid, id, new Map(left))
      }
      return 3 * limit - remaining.reduce((sum, left) => sum + left, 0)
    })

    return SlaStore.of({
      add,
      selfDealing: (pairs) => Effect.sync(() => pairs.filter((pair) => isSelfDealing(tables, pair))),
      hours: (providerId, since) =>
        Effect.sync(() => known(providerId, since).filter((one) => one.toolId === undefined)),
      // The hours are in memory: totals of days would save nothing.
      keepDays: () => Effect.void,
      toolDays: (providerId, since) =>
        Effect.sync(() => known(providerId, since).filter((one) => one.toolId !== undefined)),
      daysOfTool: (providerId, toolId, since) =>
        Effect.sync(() => known(providerId, since).filter((one) => one.toolId === toolId)),
      payers: (providerId, sinceDate) =>
        Effect.sync(() => {
          const days = [...(paid.get(providerId)?.values() ?? [])].filter(({ date }) => date >= sinceDate)
          return [...Map.groupBy(days, ({ consumerId }) => consumerId).values()]
            .map((ofConsumer) => paidCallsOf(ofConsumer.reduce(addedDays)))
            .filter((one) => one.paidMicrocents >= PAID_CONSUMER_MICROCENTS_MIN)
            .toSorted((a, b) => Number(b.paidMicrocents - a.paidMicrocents) || (a.consumerId < b.consumerId ? -1 : 1))
            .slice(0, PAID_CONSUMERS_READ_MAX)
        }),
      takeChanged: Effect.fnUntraced(function* (today, limit) {
        const taken = [...changed.keys()]
          .filter((providerId) => changed.get(providerId) === true || isOld(providerId, today))
          .toSorted()
          .slice(0, limit)
        for (const providerId of taken) yield* put(changed, providerId, false)
        return taken
      }),
      touch: (providerId) => put(changed, providerId, true),
      settle,
      catalogScore: (providerId) => Effect.sync(() => Option.fromUndefinedOr(catalogScores.get(providerId))),
      catalogScores: (ids) =>
        Effect.sync(
          () => new Map(ids.flatMap((id) => (catalogScores.has(id) ? [[id, catalogScores.get(id)!] as const] : [])))
        ),
      history: (providerId, sinceDate) =>
        Effect.sync(() => (scores.get(providerId) ?? []).filter((one) => one.date >= sinceDate)),
      prune
    })
  })
)

const paidCallsOf = ({ date: _, providerId: __, ...calls }: PaidDay): PaidCalls => calls

/** Same account, or same email address. */
export const isSelfDealing = (
  tables: Pick<MemoryTables["Service"], "consumers" | "providers">,
  { consumerId, providerId }: Pair
): boolean => {
  if ((providerId as string) === consumerId) return true
  const provider = tables.providers.get(providerId)
  return (
    provider !== undefined && provider.email.toLowerCase() === tables.consumers.get(consumerId)?.email.toLowerCase()
  )
}
