import { assert, it } from "@effect/vitest"
import { Effect, type Layer } from "effect"
import { type UnfitOutput, UnfitOutputs } from "../../domain/metering/UnfitOutputs.ts"
import { Entropy } from "../../domain/shared/Entropy.ts"
import { receiptIdOf } from "../../domain/shared/Ids.ts"
import { LIVE } from "../support/PostgresTest.ts"
import { aConsumerId } from "./ledgerSamples.ts"
import type { MeteringPorts } from "./meteringPorts.ts"
import { instant } from "./samples.ts"

const AT = instant("2026-11-20T12:00:00.000Z")

const anOutput = Effect.gen(function* () {
  const output: UnfitOutput = {
    consumerId: yield* aConsumerId,
    receiptId: receiptIdOf(yield* (yield* Entropy).uuid)
  }
  return output
})

export const unfitOutputsContract = (name: string, ports: Layer.Layer<MeteringPorts>) =>
  it.layer(ports, LIVE)(`UnfitOutputs over ${name}`, (it) => {
    it.effect("stores a noted output once per consumer and receipt", () =>
      Effect.gen(function* () {
        const unfit = yield* UnfitOutputs
        const output = yield* anOutput
        assert.isFalse(yield* unfit.isRecorded(output))
        yield* unfit.note(output, AT)
        yield* unfit.note(output, AT)
        assert.isTrue(yield* unfit.isRecorded(output))
        assert.isFalse(yield* unfit.isRecorded({ ...output, consumerId: yield* aConsumerId }))
        assert.isFalse(yield* unfit.isRecorded({ ...output, receiptId: (yield* anOutput).receiptId }))
      })
    )

    it.effect("prunes notes from before a time, up to a limit", () =>
      Effect.gen(function* () {
        const unfit = yield* UnfitOutputs
        const [old, edge] = [instant("2020-01-01T00:00:00.000Z"), instant("2020-02-01T00:00:00.000Z")]
        const stale = [yield* anOutput, yield* anOutput, yield* anOutput]
        const young = yield* anOutput
        for (const output of stale) yield* unfit.note(output, old)
        yield* unfit.note(young, edge)
        // A repeated note keeps its time.
        yield* unfit.note(stale[0]!, AT)
        assert.strictEqual(yield* unfit.prune(edge, 2), 2)
        assert.strictEqual(yield* unfit.prune(edge, 2), 1)
        assert.strictEqual(yield* unfit.prune(edge, 2), 0)
        for (const output of stale) assert.isFalse(yield* unfit.isRecorded(output))
        assert.isTrue(yield* unfit.isRecorded(young))
      })
    )
  })
