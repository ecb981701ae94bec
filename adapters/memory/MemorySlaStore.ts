/**
 * Hours of tools in memory.
 */
import { DateTime, Effect, Layer, Option } from "effect"
import type { ConsumerId, ProviderId } from "../../domain/shared/Ids.ts"
import { bounded } from "../../domain/trust/Latencies.ts"
import { added, type SlaHour } from "../../domain/trust/Sla.ts"
import { type Pair, type ScoreOfDay, SlaStore, type Standing } from "../../domain/trust/SlaStore.ts"
import { MemoryTables } from "./MemoryTables.ts"
import { put } from "./MemoryUnitOfWork.ts"

export const layer = Layer.effect(
  SlaStore,
  Effect.gen(function* () {
    const tables = yield* MemoryTables
    const hours = new Map<ProviderId, ReadonlyMap<string, SlaHour>>()
    const seen = new Map<ProviderId, ReadonlyMap<ConsumerId, string>>()
    const changed = new Map<ProviderId, boolean>()
    const standings = new Map<ProviderId, Standing>()
    const scores = new Map<ProviderId, ReadonlyArray<ScoreOfDay>>()

    const add = Effect.fnUntraced(function* (
      given: ReadonlyArray<SlaHour>,
      pairs: ReadonlyArray<Pair & { readonly date: string }>
    ) {
      for (const one of given) {
        const known = hours.get(one.providerId) ?? new Map<string, SlaHour>()
        const key = `${one.toolId} ${one.hour.epochMilliseconds}`
        const old = known.get(key)
        const sum = old === undefined ? one : added(old, one)
        yield* put(hours, one.providerId, new Map(known).set(key, { ...sum, latencies: bounded(sum.latencies) }))
        yield* put(changed, one.providerId, true)
      }
      for (const { consumerId, date, providerId } of pairs) {
        const known = seen.get(providerId) ?? new Map<ConsumerId, string>()
        if ((known.get(consumerId) ?? "") < date) yield* put(seen, providerId, new Map(known).set(consumerId, date))
      }
    })

    const known = (providerId: ProviderId, since: DateTime.Utc): ReadonlyArray<SlaHour> =>
      [...(hours.get(providerId)?.values() ?? [])].filter((one) => DateTime.isGreaterThanOrEqualTo(one.hour, since))

    const isOne = ({ consumerId, providerId }: Pair): boolean => {
      const provider = tables.providers.get(providerId)
      const consumer = tables.consumers.get(consumerId)
      if ((providerId as string) === consumerId) return true
      return provider !== undefined && provider.email.toLowerCase() === consumer?.email.toLowerCase()
    }

    const settle = Effect.fnUntraced(function* (standing: Standing, date: string) {
      const { providerId, score } = standing
      yield* put(standings, providerId, standing)
      if (!changed.has(providerId)) yield* put(changed, providerId, false)
      const earlier = (scores.get(providerId) ?? []).filter((one) => one.date !== date)
      yield* put(scores, providerId, [...earlier, { date, score }])
    })

    const isOld = (providerId: ProviderId, today: string): boolean =>
      (scores.get(providerId)?.at(-1)?.date ?? today) < today

    const prune = Effect.fnUntraced(function* (beforeDay: DateTime.Utc, limit: number) {
      const date = DateTime.formatIsoDateUtc(beforeDay)
      const lefts = [limit, limit, limit]
      /** Whether this one of the kind goes. */
      const goes = (kind: number, isOld: boolean): boolean => isOld && lefts[kind]! > 0 && lefts[kind]!-- > 0
      for (const [id, known] of hours) {
        const left = [...known].filter(([, one]) => !goes(0, DateTime.isLessThan(one.hour, beforeDay)))
        if (left.length < known.size) yield* put(hours, id, new Map(left))
      }
      for (const [id, known] of scores) {
        const left = known.filter((one) => !goes(1, one.date < date))
        if (left.length < known.length) yield* put(scores, id, left)
      }
      for (const [id, known] of seen) {
        const left = [...known].filter(([, last]) => !goes(2, last < date))
        if (left.length < known.size) yield* put(seen, id, new Map(left))
      }
      return 3 * limit - lefts.reduce((sum, left) => sum + left, 0)
    })

    return SlaStore.of({
      add,
      selfDealing: (pairs) => Effect.sync(() => pairs.filter(isOne)),
      hours: (providerId, since) =>
        Effect.sync(() => known(providerId, since).filter((one) => one.toolId === undefined)),
      // Hours are at hand here: taking them together saves nothing.
      keepDays: () => Effect.void,
      toolDays: (providerId, since) =>
        Effect.sync(() => known(providerId, since).filter((one) => one.toolId !== undefined)),
      daysOfTool: (providerId, toolId, since) =>
        Effect.sync(() => known(providerId, since).filter((one) => one.toolId === toolId)),
      consumers: (providerId, sinceDate) =>
        Effect.sync(() => [...(seen.get(providerId)?.values() ?? [])].filter((date) => date >= sinceDate).length),
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
      standing: (providerId) => Effect.sync(() => Option.fromUndefinedOr(standings.get(providerId))),
      standings: (ids) =>
        Effect.sync(() => new Map(ids.flatMap((id) => (standings.has(id) ? [[id, standings.get(id)!] as const] : [])))),
      history: (providerId, sinceDate) =>
        Effect.sync(() => (scores.get(providerId) ?? []).filter((one) => one.date >= sinceDate)),
      prune
    })
  })
)
