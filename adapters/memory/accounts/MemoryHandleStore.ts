/**
 * Handles in memory.
 */
import { Effect, Layer, Option } from "effect"
import { HandleStore } from "../../../domain/accounts/Handle.ts"
import { compareCodePoints } from "../../../domain/catalog/CatalogStore.ts"
import { VerificationStore } from "../../../domain/trust/VerificationStore.ts"
import { change } from "../shared/MemoryRows.ts"
import { type HandleRow, MemoryTables } from "../shared/MemoryTables.ts"
import { put } from "../shared/MemoryUnitOfWork.ts"

export const layer = Layer.effect(
  HandleStore,
  Effect.gen(function* () {
    const { handles, toolsByName, tools } = yield* MemoryTables
    const verification = yield* VerificationStore

    const inUse = () => [...handles.values()].filter(({ erased, retired }) => !erased && !retired)

    const isVerified = ({ providerId }: HandleRow) =>
      Effect.map(verification.verified(providerId), ({ level }) => level !== "unverified")

    return HandleStore.of({
      claim: Effect.fnUntraced(function* (claim) {
        const known = handles.get(claim.handle)
        if (known !== undefined && (known.erased || known.providerId !== claim.providerId)) return false
        yield* put(handles, claim.handle, { ...(known ?? claim), retired: false, erased: false })
        return true
      }),

      ownersOf: (wanted) =>
        Effect.sync(
          () =>
            new Map(
              wanted.flatMap((handle) => {
                const row = handles.get(handle)
                return row === undefined || row.erased ? [] : [[handle, row.providerId] as const]
              })
            )
        ),

      resolve: (handle) =>
        Effect.sync(() => {
          const row = handles.get(handle)
          return row === undefined || row.erased || row.retired ? Option.none() : Option.some(row.providerId)
        }),

      retire: (handle) => change(handles, handle, { retired: true }),

      imitated: Effect.fnUntraced(function* (skeleton, except) {
        const alike = inUse().filter((row) => row.skeleton === skeleton && row.providerId !== except)
        const [first] = yield* Effect.filter(alike, isVerified)
        return Option.map(Option.fromUndefinedOr(first), ({ handle }) => handle)
      }),

      imitations: Effect.fnUntraced(function* (limit) {
        const originals = yield* Effect.filter(inUse(), isVerified)
        const pairs = inUse().flatMap(({ handle, providerId, skeleton }) =>
          originals
            .filter((one) => one.skeleton === skeleton && one.providerId !== providerId)
            .map((one) => ({ handle, providerId, imitates: one.handle, imitatedProviderId: one.providerId }))
        )
        return pairs
          .toSorted((a, b) => compareCodePoints(a.handle, b.handle) || compareCodePoints(a.imitates, b.imitates))
          .slice(0, limit)
      }),

      beginsToolName: (handle, except) =>
        Effect.sync(() =>
          [...toolsByName].some(
            ([name, ids]) =>
              name.startsWith(`${handle}/`) && ids.some((id) => tools.get(id)!.tool.providerId !== except)
          )
        ),

      erase: Effect.fnUntraced(function* (providerId) {
        const theirs = [...handles.values()].filter((row) => row.providerId === providerId)
        for (const row of theirs) yield* put(handles, row.handle, { ...row, erased: true })
      })
    })
  })
)
