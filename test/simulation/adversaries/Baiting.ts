/**
 * A ring changes the terms of its offer after a consumer has seen them.
 */
import { Effect } from "effect"
import { one } from "../world/Asking.ts"
import { changeTerms } from "../world/Joining.ts"
import type { ActOf } from "../world/Step.ts"
import type { World } from "../world/World.ts"
import { ringOf, toolsOf } from "./Ring.ts"

export const bait = Effect.fnUntraced(function* (world: World, { ring, terms, tool }: ActOf<"RingBaits">) {
  const offered = one(toolsOf(world, ringOf(world, ring)), tool)
  return offered === undefined ? "skipped" : yield* changeTerms(world, offered, terms)
})
