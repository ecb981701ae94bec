/**
 * Disputes, SLA figures and verifications of providers in memory.
 */
import { DateTime, Effect, Layer, Option } from "effect"
import type { ProviderId } from "../../../domain/shared/Ids.ts"
import { type Proof, type ProofKind, VerificationStore, type Verified } from "../../../domain/trust/Challenge.ts"
import {
  automaticDecision,
  type Claim,
  type Dispute,
  type DisputeId,
  type DisputeOwner,
  DisputeStore,
  type DisputeTally,
  isOpen,
  type Statement
} from "../../../domain/trust/DisputeStore.ts"
import { bounded } from "../../../domain/trust/Latencies.ts"
import {
  addedDays,
  type ConsumerRulings,
  PAID_CONSUMER_MICROCENTS_MIN,
  PAID_CONSUMERS_READ_MAX,
  type PaidCalls,
  type PaidDay
} from "../../../domain/trust/PaidCalls.ts"
import { added, type SlaHour } from "../../../domain/trust/Sla.ts"
import {
  type CatalogScore,
  type Followed,
  type Pair,
  type ScoreOfDay,
  SlaStore
} from "../../../domain/trust/SlaStore.ts"
import { memoryLayer, memoryStore } from "../shared/MemoryStore.ts"
import { pageById, pageByTime, prune } from "../shared/MemoryRows.ts"
import { MemoryTables } from "../shared/MemoryTables.ts"
import { put } from "../shared/MemoryUnitOfWork.ts"

const disputeStore = Layer.sync(DisputeStore, () => {
  const disputes = new Map<DisputeId, Dispute>()

  const all = (keep: (dispute: Dispute) => boolean): ReadonlyArray<Dispute> => [...disputes.values()].filter(keep)

  const belongsTo =
    ({ ownerId, role }: DisputeOwner) =>
    (dispute: Dispute): boolean =>
      ownerId === (role === "consumer" ? dispute.consumerId : dispute.providerId)

  const insert = Effect.fnUntraced(function* (dispute: Dispute) {
    const isBlocked = all((one) => one.receiptId === dispute.receiptId && one.status !== "resolved_denied").length > 0
    if (!isBlocked) yield* put(disputes, dispute.id, dispute)
    return !isBlocked
  })

  const find = (id: DisputeId) => Option.fromUndefinedOr(disputes.get(id))

  const eraseStatements = Effect.fnUntraced(function* (owner: DisputeOwner) {
    const party = owner.role === "consumer" ? "agent" : "provider"
    const stated = all(belongsTo(owner)).flatMap((one): ReadonlyArray<Dispute> => {
      if (one.filedBy === party) return isEmpty(one.claim) ? [] : [{ ...one, claim: EMPTY_CLAIM }]
      return one.answer === undefined || isEmpty(one.answer)
        ? []
        : [{ ...one, answer: { ...one.answer, ...EMPTY_STATEMENT } }]
    })
    for (const one of stated) yield* put(disputes, one.id, one)
    return stated.length
  })

  return memoryStore(DisputeStore, {
    eraseStatements,
    insert,
    find,
    lock: find,
    update: (dispute) => put(disputes, dispute.id, dispute),
    list: (owner, status, page) => {
      const isTheirs = owner === undefined ? () => true : belongsTo(owner)
      return pageById(
        all((one) => isTheirs(one) && (status === undefined || one.status === status)),
        page
      )
    },
    contested: (page) =>
      pageByTime(
        all((one) => one.status === "under_review" && one.decideBy !== undefined),
        page,
        (one) => one.decideBy!,
        "oldest"
      ),
    due: (now, limit) =>
      all((one) => automaticDecision(one, now) !== undefined)
        .toSorted((a, b) => dueAtMs(a) - dueAtMs(b) || (a.id < b.id ? -1 : 1))
        .slice(0, limit)
        .map((one) => one.id),
    filedBy: (owner, since) => {
      const party = owner.role === "consumer" ? "agent" : "provider"
      const filed = all((one) => belongsTo(owner)(one) && one.filedBy === party)
      const lastDay = filed.filter((one) => DateTime.isGreaterThan(one.createdAt, since)).length
      return { ...tallyOf(filed), lastDay }
    },
    against: (providerId, since) =>
      tallyOf(
        all(
          (one) =>
            one.providerId === providerId &&
            one.filedBy === "agent" &&
            DateTime.isGreaterThanOrEqualTo(one.createdAt, since)
        )
      ),
    rulings: (providerId, since) => {
      const decided = all(
        (one) =>
          one.providerId === providerId &&
          one.cost > 0n &&
          (one.status === "resolved_refund" || one.status === "resolved_denied") &&
          DateTime.isGreaterThanOrEqualTo(one.createdAt, since)
      )
      return [...Map.groupBy(decided, (one) => one.consumerId).values()].map(rulingsOf)
    }
  })
})

const dueAtMs = ({ decideBy, respondBy }: Dispute): number => (decideBy ?? respondBy).epochMilliseconds

const tallyOf = (disputes: ReadonlyArray<Dispute>): DisputeTally => {
  const count = (keep: (dispute: Dispute) => boolean): number => disputes.filter(keep).length
  return {
    total: disputes.length,
    open: count(isOpen),
    upheld: count((one) => one.status === "resolved_refund"),
    denied: count((one) => one.status === "resolved_denied"),
    credited: count((one) => one.status === "resolved_credit")
  }
}

const rulingsOf = (disputes: ReadonlyArray<Dispute>): ConsumerRulings => {
  const refunds = disputes.filter((one) => one.status === "resolved_refund")
  return {
    consumerId: disputes[0]!.consumerId,
    upheld: refunds.filter((one) => one.filedBy === "agent").length,
    denied: disputes.filter((one) => one.status === "resolved_denied" && one.filedBy === "agent").length,
    refundedCalls: refunds.filter((one) => one.outcome === "success").length,
    refundedMicrocents: refunds.reduce((sum, one) => sum + (one.decision?.amount ?? 0n), 0n)
  }
}

const EMPTY_STATEMENT: Statement = { text: undefined, evidence: undefined }

const EMPTY_CLAIM: Claim = { ...EMPTY_STATEMENT, reference: undefined }

const isEmpty = ({ evidence, reference, text }: Statement & Partial<Claim>): boolean =>
  text === undefined && evidence === undefined && reference === undefined

const slaStore = memoryLayer(SlaStore, MemoryTables, (tables) => {
  const hours = new Map<ProviderId, ReadonlyMap<string, SlaHour>>()
  const paid = new Map<ProviderId, Map<string, PaidDay>>()
  const changed = new Map<ProviderId, boolean>()
  const catalogScores = new Map<ProviderId, CatalogScore>()
  const scores = new Map<ProviderId, ReadonlyArray<ScoreOfDay>>()

  // Reported calls are not stored here: the market figures count them.
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

  return {
    add,
    selfDealing: (pairs) => pairs.filter((pair) => isSelfDealing(tables, pair)),
    hours: (providerId, since) => known(providerId, since).filter((one) => one.toolId === undefined),
    // The hours are in memory: totals of days would save nothing.
    keepDays: () => undefined,
    toolDays: (providerId, since) => known(providerId, since).filter((one) => one.toolId !== undefined),
    daysOfTool: (providerId, toolId, since) => known(providerId, since).filter((one) => one.toolId === toolId),
    payers: (providerId, sinceDate) => {
      const days = [...(paid.get(providerId)?.values() ?? [])].filter(({ date }) => date >= sinceDate)
      return [...Map.groupBy(days, ({ consumerId }) => consumerId).values()]
        .map((ofConsumer) => paidCallsOf(ofConsumer.reduce(addedDays)))
        .filter((one) => one.paidMicrocents >= PAID_CONSUMER_MICROCENTS_MIN)
        .toSorted((a, b) => Number(b.paidMicrocents - a.paidMicrocents) || (a.consumerId < b.consumerId ? -1 : 1))
        .slice(0, PAID_CONSUMERS_READ_MAX)
    },
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
    catalogScore: (providerId) => Option.fromUndefinedOr(catalogScores.get(providerId)),
    catalogScores: (ids) =>
      new Map(ids.flatMap((id) => (catalogScores.has(id) ? [[id, catalogScores.get(id)!] as const] : []))),
    history: (providerId, sinceDate) => (scores.get(providerId) ?? []).filter((one) => one.date >= sinceDate),
    prune
  }
})

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

const HIGHEST_FIRST = ["code", "domain", "email"] as const

const verificationStore = Layer.sync(VerificationStore, () => {
  const proofs = new Map<string, Proof>()
  const attempts = new Map<string, { readonly since: DateTime.Utc; readonly attempts: number }>()

  const mails = new Map<string, ReadonlyArray<DateTime.Utc>>()

  const find = (providerId: ProviderId, level: ProofKind) =>
    Option.fromUndefinedOr(proofs.get(`${providerId} ${level}`))

  const verified = (providerId: ProviderId): Verified => {
    for (const level of HIGHEST_FIRST) {
      const at = proofs.get(`${providerId} ${level}`)?.verifiedAt
      if (at !== undefined) return { level, at }
    }
    return { level: "unverified", at: undefined }
  }

  return memoryStore(VerificationStore, {
    find,
    lock: find,
    put: (proof) => put(proofs, `${proof.providerId} ${proof.level}`, proof),
    remove: (providerId) => prune(proofs, (proof) => proof.providerId === providerId, Number.POSITIVE_INFINITY),
    verified,
    levels: (ids) =>
      new Map(ids.map((id) => [id, verified(id)] as const).filter(([, { level }]) => level !== "unverified")),
    due: (before, limit) =>
      [...proofs.values()]
        .filter(
          ({ checkedAt, level, verifiedAt }) =>
            verifiedAt !== undefined &&
            level !== "email" &&
            checkedAt !== undefined &&
            DateTime.isLessThan(checkedAt, before)
        )
        .toSorted((a, b) => a.checkedAt!.epochMilliseconds - b.checkedAt!.epochMilliseconds)
        .slice(0, limit),
    attempt: Effect.fnUntraced(function* (providerId, kind, now, since) {
      const key = `${providerId} ${kind}`
      const before = attempts.get(key)
      const continues = before !== undefined && DateTime.isGreaterThanOrEqualTo(before.since, since)
      const counted = continues ? { ...before, attempts: before.attempts + 1 } : { since: now, attempts: 1 }
      yield* put(attempts, key, counted)
      return counted.attempts
    }),
    mailed: Effect.fnUntraced(function* (addressHash, now, since, max) {
      const recent = (mails.get(addressHash) ?? []).filter((sent) => DateTime.isGreaterThan(sent, since))
      if (recent.length >= max) return recent.reduce(DateTime.min)
      yield* put(mails, addressHash, [...recent, now])
      return undefined
    }),
    forgetMailed: (before, limit) =>
      prune(mails, (sent) => sent.every((one) => DateTime.isLessThan(one, before)), limit)
  })
})

export const layer = Layer.mergeAll(disputeStore, slaStore, verificationStore)
