/**
 * The platform fee of each provider: the default one, or what the operator asked for. A call is held with no other fee, and
 * with none that is higher than what was announced a notice period before.
 */
import { Effect } from "effect"
import type { Receipt } from "../../domain/receipts/Receipt.ts"
import { OPERATOR } from "./Service.ts"
import { asking, one, wrong } from "./Asking.ts"
import type { AskedFee, OpenedCall } from "./Facts.ts"
import type { ActOf } from "./Step.ts"
import { nowMs, type World } from "./World.ts"

const HOUR_MS = 3_600_000
/** Clocks are set by that much at most. */
const SKEW_MS = 30 * 60_000

export const defaultFeeOf = ({ terms }: World): Array<AskedFee> => [
  { basisPoints: terms.feeBasisPoints, sentAtMs: -Infinity }
]

export const setFee = Effect.fnUntraced(function* (world: World, { basisPoints, provider }: ActOf<"Fee">) {
  const whose = one(world.facts.providers, provider)
  if (whose === undefined) return "nobody"
  world.facts.fees
    .get(whose.id)!
    .push({ basisPoints: basisPoints ?? world.terms.feeBasisPoints, sentAtMs: yield* nowMs })
  const path = `/api/v1/operator/providers/${whose.id}/platform-fee`
  return String((yield* asking(world, { path, key: OPERATOR, json: { platform_fee_bps: basisPoints } })).status)
})

export const makeFeeCheck =
  ({ facts, terms }: World) =>
  ({ receipt_id: id, provider_id }: Receipt, { call: { feeBasisPoints }, openedAtMs }: OpenedCall) => {
    const asked = facts.fees.get(provider_id)!
    const announcedBeforeMs = openedAtMs + SKEW_MS - terms.priceNoticeHours * HOUR_MS
    const announced = asked.filter(({ sentAtMs }) => sentAtMs <= announcedBeforeMs)
    const most = Math.max(...announced.map(({ basisPoints }) => basisPoints))
    return asked.some(({ basisPoints }) => basisPoints === feeBasisPoints) && feeBasisPoints <= most
      ? Effect.void
      : wrong("the fee was announced", `${id} was held with ${feeBasisPoints} basis points of at most ${most}`)
  }
