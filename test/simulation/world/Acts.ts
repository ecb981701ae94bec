/**
 * The acts of a plan: each can be started in a world, and returns a word about its result.
 */
import { DateTime, Effect } from "effect"
import { moving } from "../adversaries/Moves.ts"
import * as Calling from "./Calling.ts"
import * as Disputing from "./Disputing.ts"
import { setFee } from "../books/Fees.ts"
import { freezeOrLift } from "./Freezing.ts"
import * as Joining from "./Joining.ts"
import { work } from "../parts/Jobs.ts"
import * as Money from "../books/Money.ts"
import { prove } from "./Proving.ts"
import type { Act } from "./Step.ts"
import type { Violation } from "../books/Violation.ts"
import { nowMs, type World } from "./World.ts"

/** Into the new month, by when the old one can be closed. */
const INTO_MONTH_MS = 6 * 60_000

export const doing = (world: World, act: Act): Effect.Effect<string, Violation> => {
  switch (act._tag) {
    case "Consumer":
      return Joining.joinAsConsumer(world)
    case "Provider":
      return Joining.joinAsProvider(world, act)
    case "Price":
      return Joining.price(world, act)
    case "Fee":
      return setFee(world, act)
    case "Freeze":
      return freezeOrLift(world, act)
    case "Budget":
      return Joining.budget(world, act)
    case "Load":
      return Money.load(world, act)
    case "Checkout":
      return Money.checkout(world, act)
    case "TakeBack":
      return Money.takeBack(world, act)
    case "BringBack":
      return Money.bringBack(world, act)
    case "Webhook":
      return Money.webhook(world, act)
    case "Call":
      return Calling.call(world, act)
    case "Again":
      return Calling.again(world, act)
    case "Repeat":
      return Calling.repeat(world, act)
    case "Meter":
      return Calling.meter(world, act)
    case "Grant":
      return Calling.grant(world, act)
    case "Revoke":
      return Calling.revoke(world, act)
    case "Bill":
      return Calling.bill(world, act)
    case "File":
      return Disputing.file(world, act)
    case "Respond":
      return Disputing.respond(world, act)
    case "Resolve":
      return Disputing.resolve(world, act)
    case "Connect":
      return Money.connect(world, act)
    case "Payout":
      return Money.payout(world, act)
    case "TransferBack":
      return Money.transferBack(world, act)
    case "Mood":
      return Effect.sync(() => {
        world.processor.expect(act.about, act.moods)
        return `${act.moods.join(" ")} of ${act.about}`
      })
    case "Restrict":
      return Money.restrict(world, act)
    case "RotateKey":
      return Joining.rotateKey(world, act)
    case "Correct":
      return Money.correct(world, act)
    case "Prove":
      return prove(world, act)
    case "Job":
      return work(world, act.job)
    case "Crash":
      return Effect.as(world.kill, "killed")
    case "Skew":
      // What is in progress may be past its deadline at once: it is swept, and its caller told so.
      return Effect.as(
        Effect.andThen(
          world.setCalendarBy(act.ms),
          Effect.sync(() => world.board.disturb())
        ),
        ""
      )
    case "MonthEnd":
      return Effect.succeed("")
    default:
      return moving(world, act)
  }
}

/** By how much the world's clock goes on with the act itself. */
export const timeOf = Effect.fnUntraced(function* (act: Act) {
  if (act._tag !== "MonthEnd") return 0
  const now = yield* nowMs
  const end = DateTime.add(DateTime.startOf(DateTime.makeUnsafe(now), "month"), { months: 1 })
  return end.epochMilliseconds + INTO_MONTH_MS - now
})
