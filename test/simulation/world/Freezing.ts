/**
 * The operator freezes accounts and unfreezes them. Until then no payment, refund, won chargeback or job ends the freeze, and
 * the account neither spends nor withdraws.
 */
import { Context, Effect, Option } from "effect"
import { FreezeStore } from "../../../domain/payments/AccountFreezes.ts"
import type { Receipt } from "../../../domain/receipts/Receipts.ts"
import { ConsumerId } from "../../../domain/shared/Ids.ts"
import type { OpenedCall } from "../books/Facts.ts"
import { OPERATOR } from "../parts/Service.ts"
import { asking, one, wrong } from "./Asking.ts"
import type { ActOf } from "./Step.ts"
import { nowMs, type World } from "./World.ts"

const RULE = "the operator's freeze holds"
/** A port is late by that much at most, so a request may have been on its way. */
const LATE_MS = 5 * 60_000

export const freezeOrLift = (world: World, { lifts, who }: ActOf<"Freeze">) =>
  lifts ? lift(world, who) : freeze(world, who)

const freeze = Effect.fnUntraced(function* (world: World, who: number) {
  const { facts } = world
  const id = one(facts.consumers, who)?.id
  const isFrozen = facts.freezes.some(({ consumerId, liftedAtMs }) => consumerId === id && liftedAtMs === undefined)
  if (id === undefined || isFrozen) return "skipped"
  const { status } = yield* changing(world, id, "freeze")
  if (status === 200) {
    facts.freezes.push({
      consumerId: ConsumerId.make(id),
      fromMs: yield* nowMs,
      afterWord: facts.words,
      liftedAtMs: undefined,
      liftedAfterWord: Infinity
    })
  }
  return `freeze ${status}`
})

/** Not after a chargeback: the operator's decision would end that freeze too. Whether it is carried out or not, it counts. */
const lift = Effect.fnUntraced(function* (world: World, which: number) {
  const { facts, processor } = world
  const disputed = new Set<string>([...processor.chargebacks.values()].map(({ ordered }) => ordered.consumerId))
  const found = one(
    facts.freezes.filter(({ consumerId, liftedAtMs }) => liftedAtMs === undefined && !disputed.has(consumerId)),
    which
  )
  if (found === undefined) return "skipped"
  found.liftedAtMs = yield* nowMs
  found.liftedAfterWord = facts.words
  return `unfreeze ${(yield* changing(world, found.consumerId, "unfreeze")).status}`
})

const changing = (world: World, id: string, action: "freeze" | "unfreeze") =>
  asking(world, {
    path: `/api/v1/operator/consumers/${id}/${action}`,
    key: OPERATOR,
    json: { reason: "Fraud is suspected." }
  })

export const makeFreezeChecks = ({ facts, processor, providers, stores }: World) => {
  const store = Context.get(stores, FreezeStore)
  let refundsSeen = 0

  const freezesStand = Effect.gen(function* () {
    for (const { consumerId, liftedAtMs } of facts.freezes) {
      if (liftedAtMs !== undefined) continue
      const found = Option.getOrUndefined(yield* store.find(consumerId))
      if (found?.byOperator !== true) return yield* wrong(RULE, `${consumerId} is not frozen by the operator any more`)
    }
  })

  const nothingIsWithdrawn = Effect.suspend(() => {
    const fresh = [...processor.refunds.values()].slice(refundsSeen)
    refundsSeen += fresh.length
    for (const { madeAtMs, ordered, partId } of fresh) {
      const found = facts.freezes.find(
        ({ consumerId, fromMs, liftedAtMs = Infinity }) =>
          consumerId === ordered.consumerId && madeAtMs > fromMs + LATE_MS && madeAtMs < liftedAtMs
      )
      if (found !== undefined) return wrong(RULE, `${partId} was refunded to ${ordered.consumerId}, which is frozen`)
    }
    return Effect.void
  })

  /** Of a report it is only known when it was opened. */
  const ofReceipt = ({ agent_id, cost_microcents: cost, receipt_id: id }: Receipt, { openedAtMs }: OpenedCall) => {
    const word = providers.forwarded.get(id)?.word
    const sent = word === undefined ? undefined : Number(word.slice("word-".length))
    for (const { afterWord, consumerId, fromMs, liftedAfterWord, liftedAtMs = Infinity } of facts.freezes) {
      if (consumerId !== agent_id || cost === 0n) continue
      const isInside =
        sent === undefined
          ? openedAtMs - LATE_MS > fromMs && openedAtMs + LATE_MS < liftedAtMs
          : sent > afterWord && sent <= liftedAfterWord && openedAtMs < liftedAtMs
      if (isInside) return wrong(RULE, `${id} over ${cost} was opened for ${agent_id}, which is frozen`)
    }
    return Effect.void
  }

  return { afterEach: Effect.andThen(freezesStand, nothingIsWithdrawn), ofReceipt }
}
