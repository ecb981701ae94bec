/**
 * A ring registers its accounts like any other.
 */
import { Effect } from "effect"
import { asking } from "../world/Asking.ts"
import { registerConsumer, registerProvider } from "../world/Joining.ts"
import { CONNECT, handAll } from "../books/Money.ts"
import type { ActOf } from "../world/Step.ts"
import type { World } from "../world/World.ts"
import { ringOf } from "./Ring.ts"

const CONSUMERS_MAX = 4
const PROVIDERS_MAX = 2

/** Up to so many members; a provider can be paid out from the start. */
export const join = Effect.fnUntraced(function* (world: World, { consumers, ring: number, tools }: ActOf<"RingJoins">) {
  const ring = ringOf(world, number)
  for (let n = 0; n < consumers && ring.consumers.length < CONSUMERS_MAX; n++) {
    const { member } = yield* registerConsumer(world)
    if (member !== undefined) ring.consumers.push(member)
  }
  if (tools.length > 0 && ring.providers.length < PROVIDERS_MAX) {
    const { member } = yield* registerProvider(world, tools)
    if (member !== undefined) {
      ring.providers.push(member)
      yield* asking(world, { path: CONNECT, key: member.key, json: {} })
      yield* handAll(world)
    }
  }
  return `${ring.consumers.length} and ${ring.providers.length}`
})
