/**
 * The moves of a ring: each can be started in a world, and returns a word about its result.
 */
import type { Effect } from "effect"
import type { Violation } from "../books/Violation.ts"
import type { World } from "../world/World.ts"
import { answer } from "./Answering.ts"
import { bait } from "./Baiting.ts"
import { buy, leave, serve } from "./Calling.ts"
import { chargeBack } from "./ChargingBack.ts"
import { disputeOwn, smear } from "./Disputing.ts"
import { flood } from "./Flooding.ts"
import { cashOut, load, withdraw } from "./Funding.ts"
import { join } from "./Joining.ts"
import type { Move } from "./Move.ts"

export const moving = (world: World, move: Move): Effect.Effect<string, Violation> => {
  switch (move._tag) {
    case "RingJoins":
      return join(world, move)
    case "RingLoads":
      return load(world, move)
    case "RingBuys":
      return buy(world, move)
    case "RingCashesOut":
      return cashOut(world, move)
    case "RingDisputes":
      return disputeOwn(world, move)
    case "RingChargesBack":
      return chargeBack(world, move)
    case "RingWithdraws":
      return withdraw(world, move)
    case "RingBaits":
      return bait(world, move)
    case "RingServes":
      return serve(world, move)
    case "RingLeaves":
      return leave(world, move)
    case "RingAnswers":
      return answer(world, move)
    case "RingFloods":
      return flood(world, move)
    case "RingSmears":
      return smear(world, move)
  }
}
