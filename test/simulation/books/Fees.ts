/**
 * The platform fee of each provider: the default one, or what the operator asked for. A call is held with the fee in effect
 * when it was opened, which is recalculated here: a lower fee at once, a higher one after the notice.
 */
import { Effect } from "effect"
import type { Receipt } from "../../../domain/receipts/Receipts.ts"
import { OPERATOR } from "../parts/Service.ts"
import { asking, one, wrong } from "../world/Asking.ts"
import type { ActOf } from "../world/Step.ts"
import { nowMs, type World } from "../world/World.ts"
import type { AskedFee, OpenedCall } from "./Facts.ts"

const HOUR_MS = 3_600_000
/** Clocks are set by that much at most. */
const SKEW_MS = 30 * 60_000

export const defaultFeeOf = ({ terms }: World): Array<AskedFee> => [
  { basisPoints: terms.feeBasisPoints, sentAtMs: -Infinity, isDone: true }
]

export const setFee = Effect.fnUntraced(function* (world: World, { basisPoints, provider }: ActOf<"Fee">) {
  const whose = one(world.facts.providers, provider)
  if (whose === undefined) return "skipped"
  const asked: AskedFee = {
    basisPoints: basisPoints ?? world.terms.feeBasisPoints,
    sentAtMs: yield* nowMs,
    isDone: false
  }
  world.facts.fees.get(whose.id)!.push(asked)
  const path = `/api/v1/operator/providers/${whose.id}/platform-fee`
  const { status } = yield* asking(world, { path, key: OPERATOR, json: { platform_fee_bps: basisPoints } })
  asked.isDone = status === 200
  return String(status)
})

interface Fee {
  readonly now: number
  readonly next: { readonly basisPoints: number; readonly fromMs: number } | undefined
}

const feeAfter = ({ next, now }: Fee, { basisPoints, sentAtMs }: AskedFee, noticeMs: number): ReadonlyArray<Fee> => {
  const isInEffect = next !== undefined && next.fromMs <= sentAtMs + SKEW_MS
  const isUncertain = isInEffect && next.fromMs > sentAtMs - SKEW_MS
  const before: ReadonlyArray<Fee> = [
    ...(isInEffect ? [{ now: next.basisPoints, next: undefined }] : []),
    ...(!isInEffect || isUncertain ? [{ now, next }] : [])
  ]
  return before.map((fee) => {
    if (basisPoints <= fee.now) return { now: basisPoints, next: undefined }
    const isAnnounced = fee.next !== undefined && basisPoints <= fee.next.basisPoints
    const fromMs = Math.min(sentAtMs + noticeMs, isAnnounced ? fee.next.fromMs : Infinity)
    return { now: fee.now, next: { basisPoints, fromMs } }
  })
}

/** A request without a success may have been carried out or not. */
const feesAt = (asked: ReadonlyArray<AskedFee>, openedAtMs: number, noticeMs: number): ReadonlySet<number> => {
  const allowed = new Set<number>()
  let fees: ReadonlyArray<Fee> = [{ now: asked[0]!.basisPoints, next: undefined }]
  for (const [n, one] of asked.entries()) {
    if (one.sentAtMs > openedAtMs + SKEW_MS) break
    if (n > 0) {
      const changed = fees.flatMap((fee) => feeAfter(fee, one, noticeMs))
      const either = one.isDone ? changed : [...fees, ...changed]
      fees = [...new Map(either.map((fee) => [JSON.stringify(fee), fee])).values()]
    }
    if ((asked[n + 1]?.sentAtMs ?? Infinity) < openedAtMs - SKEW_MS) continue
    for (const { next, now } of fees) {
      if (next === undefined || next.fromMs > openedAtMs - SKEW_MS) allowed.add(now)
      if (next !== undefined && next.fromMs <= openedAtMs + SKEW_MS) allowed.add(next.basisPoints)
    }
  }
  return allowed
}

export const makeFeeCheck =
  ({ facts, terms }: World) =>
  ({ receipt_id: id, provider_id }: Receipt, { call: { feeBasisPoints }, openedAtMs }: OpenedCall) => {
    const allowed = feesAt(facts.fees.get(provider_id)!, openedAtMs, terms.priceNoticeHours * HOUR_MS)
    return allowed.has(feeBasisPoints)
      ? Effect.void
      : wrong("the fee was announced", `${id} was held with ${feeBasisPoints} basis points, not ${[...allowed].join()}`)
  }
