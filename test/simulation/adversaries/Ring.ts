/**
 * Accounts that act together.
 */
import type { Member } from "../../support/market/Market.ts"
import { one } from "../world/Asking.ts"
import type { OfferedTool, Ring } from "../books/Facts.ts"
import type { World } from "../world/World.ts"

/** A new one has no members. */
export const ringOf = ({ facts }: World, number: number): Ring => {
  const known = facts.rings.get(number)
  if (known !== undefined) return known
  const fresh: Ring = { consumers: [], providers: [] }
  facts.rings.set(number, fresh)
  return fresh
}

export const toolsOf = ({ facts }: World, ring: Ring): ReadonlyArray<OfferedTool> =>
  facts.tools.filter(({ provider }) => ring.providers.includes(provider))

/** Of providers that are in no ring. */
export const othersTools = ({ facts }: World): ReadonlyArray<OfferedTool> => {
  const members = new Set([...facts.rings.values()].flatMap(({ providers }) => providers))
  return facts.tools.filter(({ provider }) => !members.has(provider))
}

export const othersConsumers = ({ facts }: World): ReadonlyArray<Member> => {
  const members = new Set([...facts.rings.values()].flatMap(({ consumers }) => consumers))
  return facts.consumers.filter((consumer) => !members.has(consumer))
}

export const pair = (
  world: World,
  ring: Ring,
  who: number,
  tool: number,
  from: ReadonlyArray<OfferedTool> = toolsOf(world, ring)
): readonly [buyer: Member, tool: OfferedTool] | undefined => {
  const [buyer, offered] = [one(ring.consumers, who), one(from, tool)]
  return buyer === undefined || offered === undefined ? undefined : [buyer, offered]
}
