/**
 * The waitlist in memory.
 */
import { DateTime, Effect, Layer, Option } from "effect"
import { type WaitlistEntry, WaitlistStore } from "../../../domain/platform/Submissions.ts"
import { add } from "../shared/MemoryRows.ts"
import { put, remove } from "../shared/MemoryUnitOfWork.ts"

export const layer = Layer.sync(WaitlistStore, () => {
  const entries = new Map<string, WaitlistEntry>()
  return WaitlistStore.of({
    add: (entry) => add(entries, entry.email, entry),
    find: (email) => Effect.sync(() => Option.fromNullishOr(entries.get(email))),
    erase: Effect.fnUntraced(function* (email) {
      const entry = entries.get(email)
      if (entry === undefined) return false
      const anonymousEmail = `erased+${entry.id}@erased.invalid`
      yield* remove(entries, email)
      yield* put(entries, anonymousEmail, { ...entry, email: anonymousEmail, source: "" })
      return true
    }),
    count: (since) =>
      Effect.sync(() =>
        since === undefined
          ? entries.size
          : [...entries.values()].filter(({ joinedAt }) => DateTime.isGreaterThanOrEqualTo(joinedAt, since)).length
      )
  })
})
