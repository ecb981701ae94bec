/**
 * A ring charges loads back at its bank, from the opening of the dispute to its end.
 */
import { Effect } from "effect"
import { one } from "../world/Asking.ts"
import { handAll } from "../books/Money.ts"
import type { Processor } from "../parts/Processor.ts"
import type { ActOf } from "../world/Step.ts"
import { nowMs, type World } from "../world/World.ts"
import { ringOf } from "./Ring.ts"
import type { Ring } from "../books/Facts.ts"

export const chargeBack = Effect.fnUntraced(function* (world: World, act: ActOf<"RingChargesBack">) {
  const did = yield* begin(world, ringOf(world, act.ring), act)
  if (did && act.told) yield* handAll(world)
  return did ? act.stage : "nothing"
})

const begin = Effect.fnUntraced(function* (world: World, ring: Ring, { stage, which }: ActOf<"RingChargesBack">) {
  const { processor } = world
  const isOwn = (consumerId: string): boolean => ring.consumers.some(({ id }) => id === consumerId)
  if (stage === "open") {
    const paid = [...processor.checkouts.values()].filter((one) => one.state === "paid" && isOwn(one.consumerId))
    const ordered = one(paid, which)
    return ordered !== undefined && processor.openChargeback(ordered, 100) !== undefined
  }
  const known = chargebacksOf(processor, isOwn).filter(
    ({ state }) => state === (stage === "withdraw" ? "open" : "withdrawn")
  )
  const chargeback = one(known, which)
  if (chargeback === undefined) return false
  if (stage === "withdraw") processor.withdraw(chargeback)
  else processor.close(chargeback, stage === "win" ? "won" : "lost", yield* nowMs)
  return true
})

const chargebacksOf = (processor: Processor, isOwn: (consumerId: string) => boolean) =>
  [...processor.chargebacks.values()].filter(({ ordered }) => isOwn(ordered.consumerId))
