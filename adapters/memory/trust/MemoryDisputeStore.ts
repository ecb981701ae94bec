/**
 * Disputes in memory.
 */
import { DateTime, Effect, Layer, Option } from "effect"
import {
  automaticDecision,
  type Dispute,
  type DisputeId,
  type DisputeOwner,
  DisputeStore,
  type DisputeTally,
  isOpen,
  type Statement
} from "../../../domain/trust/DisputeStore.ts"
import type { ConsumerRulings } from "../../../domain/trust/PaidCalls.ts"
import { pageById, pageByTime } from "../shared/MemoryRows.ts"
import { put } from "../shared/MemoryUnitOfWork.ts"

export const layer = Layer.sync(DisputeStore, () => {
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

  const find = (id: DisputeId) => Effect.sync(() => Option.fromUndefinedOr(disputes.get(id)))

  const eraseStatements = Effect.fnUntraced(function* (owner: DisputeOwner) {
    const party = owner.role === "consumer" ? "agent" : "provider"
    const stated = all(belongsTo(owner)).flatMap((one): ReadonlyArray<Dispute> => {
      if (one.filedBy === party) return isEmpty(one.claim) ? [] : [{ ...one, claim: EMPTY_STATEMENT }]
      return one.answer === undefined || isEmpty(one.answer)
        ? []
        : [{ ...one, answer: { ...one.answer, ...EMPTY_STATEMENT } }]
    })
    for (const one of stated) yield* put(disputes, one.id, one)
    return stated.length
  })

  return DisputeStore.of({
    eraseStatements,
    insert,
    find,
    lock: find,
    update: (dispute) => put(disputes, dispute.id, dispute),
    list: (owner, status, page) =>
      Effect.sync(() => {
        const isTheirs = owner === undefined ? () => true : belongsTo(owner)
        return pageById(
          all((one) => isTheirs(one) && (status === undefined || one.status === status)),
          page
        )
      }),
    contested: (page) =>
      Effect.sync(() =>
        pageByTime(
          all((one) => one.status === "under_review" && one.decideBy !== undefined),
          page,
          (one) => one.decideBy!,
          "oldest"
        )
      ),
    due: (now, limit) =>
      Effect.sync(() =>
        all((one) => automaticDecision(one, now) !== undefined)
          .toSorted((a, b) => dueAtMs(a) - dueAtMs(b) || (a.id < b.id ? -1 : 1))
          .slice(0, limit)
          .map((one) => one.id)
      ),
    filedBy: (owner, since) =>
      Effect.sync(() => {
        const party = owner.role === "consumer" ? "agent" : "provider"
        const filed = all((one) => belongsTo(owner)(one) && one.filedBy === party)
        const lastDay = filed.filter((one) => DateTime.isGreaterThan(one.createdAt, since)).length
        return { ...tallyOf(filed), lastDay }
      }),
    against: (providerId, since) =>
      Effect.sync(() =>
        tallyOf(
          all(
            (one) =>
              one.providerId === providerId &&
              one.filedBy === "agent" &&
              DateTime.isGreaterThanOrEqualTo(one.createdAt, since)
          )
        )
      ),
    rulings: (providerId, since) =>
      Effect.sync(() => {
        const decided = all(
          (one) =>
            one.providerId === providerId &&
            one.cost > 0n &&
            (one.status === "resolved_refund" || one.status === "resolved_denied") &&
            DateTime.isGreaterThanOrEqualTo(one.createdAt, since)
        )
        return [...Map.groupBy(decided, (one) => one.consumerId).values()].map(rulingsOf)
      })
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

const isEmpty = ({ evidence, text }: Statement): boolean => text === undefined && evidence === undefined
