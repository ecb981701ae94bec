/**
 * Names of listed tools that are close to a misspelled one. The cost is bounded: a few hundred names from an index, whatever
 * the size of the catalog.
 */
import { Effect, Option } from "effect"
import { qualifiedName } from "../accounts/Handle.ts"
import { HandleStore } from "../accounts/HandleStore.ts"
import type { ProviderId } from "../shared/Ids.ts"
import { GUESSES_MAX, nearestNames } from "../shared/NearestName.ts"
import { CatalogStore, isOffered } from "./CatalogStore.ts"

/** Tools of one name. */
export const CANDIDATES_MAX = 20
/** Names on either side that a misspelled one is compared with. */
const NEIGHBORS_MAX = 200

export const makeNearestTools = Effect.gen(function* () {
  const store = yield* CatalogStore
  const handles = yield* HandleStore

  const ofNames = (toolName: string, providerId: ProviderId | undefined) =>
    Effect.map(store.similarNames(toolName, providerId, NEIGHBORS_MAX), (names) =>
      nearestNames(toolName, names, GUESSES_MAX)
    )

  /**
   * Of the provider, if it exists; else tools of this name, whose providers' handles are close. Without a handle: the oldest
   * tools of this name.
   */
  const nearestQualified = Effect.fn("Catalog.nearestQualified")(function* (
    handle: string | undefined,
    toolName: string
  ) {
    const owner = handle === undefined ? undefined : Option.getOrUndefined(yield* handles.resolve(handle))
    if (handle !== undefined && owner !== undefined) {
      return (yield* ofNames(toolName, owner)).map((name) => qualifiedName(handle, name))
    }
    const namesakes = yield* store.findByName(toolName, CANDIDATES_MAX)
    const listed = namesakes.filter(isOffered).map(({ provider }) => provider.handle)
    const near = handle === undefined ? listed.slice(0, GUESSES_MAX) : nearestNames(handle, listed, GUESSES_MAX)
    return near.map((one) => qualifiedName(one, toolName))
  })

  return { nearestNames: Effect.fn("Catalog.nearestNames")(ofNames), nearestQualified }
})
