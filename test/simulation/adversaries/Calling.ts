/**
 * Calls of a ring: to itself, left before the response, or at a price that baits others.
 */
import { Effect } from "effect"
import { one } from "../world/Asking.ts"
import { callOf } from "../world/Calling.ts"
import type { ActOf } from "../world/Step.ts"
import type { World } from "../world/World.ts"
import { othersConsumers, othersTools, pair, ringOf, toolsOf } from "./Ring.ts"

const DEAREST = 2
const QUICK = { outcome: "success", latencyMs: 20 } as const

/** Among what it sells dearest: so a load is spent soon. */
export const buy = Effect.fnUntraced(function* (world: World, { ring: number, times, tool, who }: ActOf<"RingBuys">) {
  const ring = ringOf(world, number)
  const dearest = toolsOf(world, ring)
    .toSorted((a, b) => b.terms.price - a.terms.price)
    .slice(0, DEAREST)
  const found = pair(world, ring, who, tool, dearest)
  if (found === undefined) return "skipped"
  return yield* callOf(world, { keyed: false, times, provider: { ...QUICK, reports: 100 }, cap: 100 }, ...found)
})

export const leave = Effect.fnUntraced(function* (world: World, act: ActOf<"RingLeaves">) {
  const found = pair(world, ringOf(world, act.ring), act.who, act.tool, othersTools(world))
  if (found === undefined) return "skipped"
  const provider = { outcome: "success", latencyMs: act.latencyMs, reports: 100 } as const
  return yield* callOf(
    world,
    { keyed: false, times: act.times, provider, cap: 100, goesAwayAfterMs: act.afterMs },
    ...found
  )
})

/** Who names no cap agrees to the price that is published, and to no more. */
export const serve = Effect.fnUntraced(function* (world: World, act: ActOf<"RingServes">) {
  const buyer = one(othersConsumers(world), act.who)
  const tool = one(toolsOf(world, ringOf(world, act.ring)), act.tool)
  if (buyer === undefined || tool === undefined) return "skipped"
  const outcome = act.fails ? "tool_error" : "success"
  const provider = { outcome, latencyMs: 20, reports: act.reports } as const
  return yield* callOf(world, { keyed: false, times: 1, provider, ...(act.capped ? { cap: 60 } : {}) }, buyer, tool)
})
