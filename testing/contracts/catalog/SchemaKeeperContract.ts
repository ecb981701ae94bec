/**
 * What a SchemaKeeper must do.
 */
import { Effect } from "effect"
import assert from "node:assert/strict"
import { SchemaKeeper } from "../../../domain/platform/Health.ts"
import { type Contract, rule } from "../shared/Contract.ts"
import { atOnce } from "../shared/LedgerSamples.ts"

export const schemaKeeperContract: Contract<SchemaKeeper> = [
  rule(
    "brings the schema up to date, once if several nodes do it at once",
    Effect.gen(function* () {
      const { bringUpToDate, state } = yield* SchemaKeeper
      const updates = yield* atOnce(3, () => bringUpToDate)
      const { expected, version } = yield* state
      assert.equal(version, expected)
      for (const update of updates) assert.equal(update.version, expected)
      const applied = updates.flatMap((update) => update.applied)
      assert.equal(new Set(applied).size, applied.length)
      assert.deepEqual(yield* bringUpToDate, { ...updates[0]!, applied: [] })
    })
  )
]
