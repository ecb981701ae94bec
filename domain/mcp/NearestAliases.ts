/**
 * What a client of the market door may have meant by a name that is not an alias: names that its account can call.
 */
import { Effect } from "effect"
import { isHandle } from "../accounts/Handle.ts"
import { Catalog } from "../catalog/Catalog.ts"
import type { ConsumerId, KeyId } from "../shared/Ids.ts"
import { GUESSES_MAX, nearestNames } from "../shared/NearestName.ts"
import { Toolbox } from "./Toolbox.ts"

/** At most 3 names: the closest of `others` and of the toolbox's aliases, else qualified names of listed tools. */
export const makeNearestAliases = Effect.gen(function* () {
  const toolbox = yield* Toolbox
  const catalog = yield* Catalog

  return Effect.fn("NearestAliases.find")(function* (
    name: string,
    caller: { readonly ownerId: ConsumerId; readonly keyId: KeyId },
    others: ReadonlyArray<string>
  ) {
    const { tools } = yield* toolbox.listed(caller.ownerId, caller.keyId)
    const callable = nearestNames(name, [...others, ...tools.map(({ alias }) => alias)], GUESSES_MAX)
    if (callable.length > 0) return callable
    const { handle, toolName } = partsOf(name)
    return yield* catalog.nearestQualified(handle, toolName)
  })
})

const SEPARATOR = "__"

/** A plain alias is `{handle}__{tool_name}`; no handle contains an underscore. */
const partsOf = (name: string): { readonly handle: string | undefined; readonly toolName: string } => {
  const at = name.indexOf(SEPARATOR)
  const handle = name.slice(0, Math.max(at, 0))
  return isHandle(handle)
    ? { handle, toolName: name.slice(at + SEPARATOR.length) }
    : { handle: undefined, toolName: name }
}
