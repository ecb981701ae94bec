/**
 * What an adapter of UnfitOutputs must do.
 */
import { DateTime, Effect } from "effect"
import assert from "node:assert/strict"
import { type UnfitOutput, UnfitOutputs } from "../../../domain/metering/Settlement.ts"
import { Entropy } from "../../../domain/shared/Cryptography.ts"
import { receiptIdOf } from "../../../domain/shared/Ids.ts"
import { type Contract, rule } from "../shared/Contract.ts"
import { aConsumerId } from "../shared/LedgerSamples.ts"

const AT = DateTime.makeUnsafe("2026-11-20T12:00:00.000Z")

const anOutput = Effect.gen(function* () {
  const output: UnfitOutput = {
    consumerId: yield* aConsumerId,
    receiptId: receiptIdOf(yield* (yield* Entropy).uuid, 0)
  }
  return output
})

export const unfitOutputsContract: Contract<UnfitOutputs> = [
  rule(
    "stores a noted output once per consumer and receipt",
    Effect.gen(function* () {
      const unfit = yield* UnfitOutputs
      const output = yield* anOutput
      assert.equal(yield* unfit.isRecorded(output), false)
      yield* unfit.note(output, AT)
      yield* unfit.note(output, AT)
      assert.equal(yield* unfit.isRecorded(output), true)
      assert.equal(yield* unfit.isRecorded({ ...output, consumerId: yield* aConsumerId }), false)
      assert.equal(yield* unfit.isRecorded({ ...output, receiptId: (yield* anOutput).receiptId }), false)
    })
  ),

  rule(
    "prunes notes from before a time, up to a limit",
    Effect.gen(function* () {
      const unfit = yield* UnfitOutputs
      const [old, edge] = [
        DateTime.makeUnsafe("2020-01-01T00:00:00.000Z"),
        DateTime.makeUnsafe("2020-02-01T00:00:00.000Z")
      ]
      const stale = [yield* anOutput, yield* anOutput, yield* anOutput]
      const young = yield* anOutput
      for (const output of stale) yield* unfit.note(output, old)
      yield* unfit.note(young, edge)
      // A repeated note keeps its time.
      yield* unfit.note(stale[0]!, AT)
      assert.equal(yield* unfit.prune(edge, 2), 2)
      assert.equal(yield* unfit.prune(edge, 2), 1)
      assert.equal(yield* unfit.prune(edge, 2), 0)
      for (const output of stale) assert.equal(yield* unfit.isRecorded(output), false)
      assert.equal(yield* unfit.isRecorded(young), true)
    })
  )
]
