/**
 * A store's lock on a row: units of work that lock the same row run one after the other.
 */
import { Effect } from "effect"
import assert from "node:assert/strict"
import { UnitOfWork } from "../../../domain/shared/StoreUnavailable.ts"
import { atOnce } from "./LedgerSamples.ts"

const UNITS = 8

/** `change` locks the row, and changes it only if no other unit has; it returns whether it did. */
export const changesOnce = Effect.fnUntraced(function* <E, R>(change: Effect.Effect<boolean, E, R>) {
  const { atomically } = yield* UnitOfWork
  // Opens a connection for each unit, so that they begin together.
  yield* atOnce(UNITS, () => atomically(Effect.sleep("10 millis")))
  const results = yield* atOnce(UNITS, () => atomically(change))
  assert.equal(results.filter((hasChanged) => hasChanged).length, 1)
})
