/**
 * Money of a ring: in by loads, out by payouts and withdrawals.
 */
import { Effect } from "effect"
import { textAt } from "../../support/market/Market.ts"
import { LOAD } from "../../support/metering/Shop.ts"
import { asking, askingUnderKey, one } from "../world/Asking.ts"
import { handAll, PAYOUTS } from "../books/Money.ts"
import type { ActOf } from "../world/Step.ts"
import type { World } from "../world/World.ts"
import { ringOf } from "./Ring.ts"

const WITHDRAW = "/api/v1/market/balance/withdraw"
const BALANCE = "/api/v1/market/balance"

/** Ordered, paid, and told. */
export const load = Effect.fnUntraced(function* (world: World, { cents, ring, who }: ActOf<"RingLoads">) {
  const payer = one(ringOf(world, ring).consumers, who)
  if (payer === undefined) return "skipped"
  const answer = yield* asking(world, { path: LOAD, key: payer.key, json: { amount_cents: cents } })
  if (answer.status !== 200) return String(answer.status)
  const ordered = world.processor.checkouts.get(textAt(answer, "session_id"))
  if (ordered !== undefined) world.processor.end(ordered, "paid")
  yield* handAll(world)
  return "paid"
})

export const cashOut = Effect.fnUntraced(function* (world: World, { ring }: ActOf<"RingCashesOut">) {
  const answers = yield* Effect.forEach(ringOf(world, ring).providers, ({ key }) =>
    asking(world, { path: PAYOUTS, key, json: {} })
  )
  return answers.map(({ status }) => status).join(" ")
})

/** A part of what it says that there is, or more. */
export const withdraw = Effect.fnUntraced(function* (world: World, act: ActOf<"RingWithdraws">) {
  const owner = one(ringOf(world, act.ring).consumers, act.who)
  if (owner === undefined) return "skipped"
  const balance = yield* asking(world, { path: BALANCE, key: owner.key })
  if (balance.status !== 200) return String(balance.status)
  const cents = (balance.json as { readonly balance_cents: number }).balance_cents
  const json = { amount_cents: Math.max(1, Math.floor((cents * act.percent) / 100)) }
  return String((yield* askingUnderKey(world, { path: WITHDRAW, key: owner.key, json }, "withdrawal_id")).status)
})
