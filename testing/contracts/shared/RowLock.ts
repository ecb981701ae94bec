/**
 * A store's lock on a row: units of work that lock the same row run one after the other.
 */
import { Effect } from "effect"
import assert from "node:assert/strict"
import { UnitOfWork } from "../../../domain/shared/StoreUnavailable.ts"
import { atOnce } from "./LedgerSamples.ts"

const UNITS = 8

/**
 * `change` gets the row that `lock` has read, and changes it only if no other unit has; it returns whether it did. Every
 * unit waits between the two: without the lock, all of them have read the row before the first one changes it.
 */
export const changesOnce = Effect.fnUntraced(function* <A, E1, R1, E2, R2>(
  lock: Effect.Effect<A, E1, R1>,
  change: (row: A) => Effect.Effect<boolean, E2, R2>
) {
  const { atomically } = yield* UnitOfWork
  const pause = Effect.sleep("10 millis")
  // Opens a connection for each unit, so that they begin together.
  yield* atOnce(UNITS, () => atomically(pause))
  const results = yield* atOnce(UNITS, () =>
    atomically(
      Effect.flatMap(
        Effect.tap(lock, () => pause),
        change
      )
    )
  )
  assert.equal(results.filter((hasChanged) => hasChanged).length, 1)
})
