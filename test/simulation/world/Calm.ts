/**
 * The end of a run: no more faults, all events arrive and all work is done. Then nothing may be pending.
 */
import { Context, DateTime, Effect, Option } from "effect"
import { GrantStore } from "../../../domain/metering/Grants.ts"
import { ChargebackStore } from "../../../domain/payments/AccountFreezes.ts"
import { LoadStore } from "../../../domain/payments/Loads.ts"
import { isOpenPart, WithdrawalStore } from "../../../domain/payments/Withdrawals.ts"
import { timeOf } from "./Acts.ts"
import { wrong } from "./Asking.ts"
import { work } from "../parts/Jobs.ts"
import { webhook } from "../books/Money.ts"
import { type Violation, violationIn } from "../books/Violation.ts"
import type { World } from "./World.ts"

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const ROUNDS = 3
const JOBS = [
  "sweep",
  "reconcile",
  "payouts",
  "withdrawals",
  "fees",
  "freezes",
  "disputes",
  "claims",
  "sequence"
] as const

export const calm = Effect.fnUntraced(function* (world: World, check: Effect.Effect<void, Violation>) {
  world.processor.cheerUp()
  yield* world.pass(5 * MINUTE)
  // It may have died with the answer that the last call was waiting for.
  yield* world.revive
  for (let round = 0; round < ROUNDS; round++) {
    while (world.processor.news.size > 0) {
      const before = world.processor.news.size
      yield* alone(world, webhook(world, { _tag: "Webhook", which: 0, copies: 1, answerLost: false }))
      if (world.processor.news.size === before)
        return yield* wrong("news are taken", JSON.stringify([...world.processor.news]))
    }
    for (const job of JOBS) {
      yield* alone(world, work(world, job))
      yield* check
    }
    yield* world.pass(2 * HOUR)
  }
  yield* feesAreKnown(world)
  yield* world.pass(yield* timeOf({ _tag: "MonthEnd" }))
  yield* alone(world, work(world, "invoices"))
  yield* check
  const left = yield* Context.get(world.stores, GrantStore).reservedBefore(yield* DateTime.now, 1)
  if (left.length > 0) return yield* wrong("everything ends", `${left[0]!.invocationId} has a reservation left`)
  if (world.underWay() > 0) return yield* wrong("everything ends", `${world.underWay()} are still under way`)
  if (world.facts.pending.size > 0)
    return yield* wrong("everything ends", `open: ${[...world.facts.pending.keys()].join(" ")}`)
  if (world.facts.unplaced.size > 0)
    return yield* wrong("in the log", `${world.facts.unplaced.size} receipts have no place`)
  yield* paidIsLoaded(world)
  yield* withdrawalsEnded(world)
})

const alone = <A>(world: World, doing: Effect.Effect<A, Violation>) =>
  Effect.andThen(
    world.begin(doing, (exit) => {
      if (exit._tag === "Failure") world.violations.push(violationIn(exit.cause))
    }),
    world.pass(1_000)
  )

/** They are read in the first month; none is read while a longer time passes in one step. */
const feesAreKnown = Effect.fnUntraced(function* ({ processor, stores }: World) {
  const loads = Context.get(stores, LoadStore)
  const since = DateTime.subtract(yield* DateTime.now, { days: 29 })
  for (const { loadId } of processor.checkouts.values()) {
    const load = Option.getOrUndefined(yield* loads.find(loadId))
    if (load?.paidAt === undefined || DateTime.isLessThan(load.paidAt, since)) continue
    if (load.feeCents === undefined) return yield* wrong("fees are known", `not that of ${loadId}`)
  }
})

const withdrawalsEnded = Effect.fnUntraced(function* ({ facts, stores }: World) {
  const withdrawals = Context.get(stores, WithdrawalStore)
  for (const id of facts.withdrawals) {
    const open = Option.getOrUndefined(yield* withdrawals.find(id))?.parts.find(isOpenPart)
    if (open !== undefined) return yield* wrong("everything ends", `withdrawal ${id}: ${open.id} is ${open.state}`)
  }
})

/** What was paid was acknowledged by now, and nothing that was acknowledged is lost. */
const paidIsLoaded = Effect.fnUntraced(function* ({ processor, stores }: World) {
  const loads = Context.get(stores, LoadStore)
  for (const { loadId, state } of processor.checkouts.values()) {
    const load = Option.getOrUndefined(yield* loads.find(loadId))
    if (state === "paid" && load?.state !== "paid")
      return yield* wrong("what is paid is loaded", `${loadId}: ${load?.state}`)
  }
  const chargebacks = Context.get(stores, ChargebackStore)
  for (const { cause, id, loadId, state } of processor.goneBack.values()) {
    const reversal = Option.getOrUndefined(yield* loads.reversal(id))
    const funds = Option.getOrUndefined(yield* chargebacks.find(id))?.funds
    const found = cause === "refund" ? reversal?.state : funds === "withdrawn" ? "taken" : "returned"
    if (found !== state) return yield* wrong("what went back is taken", `${id} of ${loadId}: ${found}`)
  }
})
