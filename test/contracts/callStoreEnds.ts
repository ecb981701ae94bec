import { assert, it } from "@effect/vitest"
import { Effect, type Layer } from "effect"
import { CallStore } from "../../domain/metering/CallStore.ts"
import type { LedgerPorts } from "./ledgerPorts.ts"
import { aCall, atOnce, closingOf, consumerWith, money, opened, tagsOf } from "./ledgerSamples.ts"

export const endsOfCallsContract = (name: string, ports: Layer.Layer<LedgerPorts>) =>
  it.layer(ports, { timeout: "60 seconds", excludeTestServices: true })(`The end of a call over ${name}`, (it) => {
    it.effect(
      "is closed now by one of those who close it with the same receipt, and was closed before for the others",
      () =>
        Effect.gen(function* () {
          const calls = yield* CallStore
          const call = yield* aCall(yield* consumerWith(10_000))
          yield* opened(call)
          const closing = yield* closingOf(call)
          const answers = yield* atOnce(20, () => calls.close(closing))
          assert.strictEqual(answers.filter((answer) => answer._tag === "Closed" && answer.now).length, 1)
          assert.deepStrictEqual(tagsOf(answers), { Closed: 20 })
        })
    )

    it.effect("knows what has become of a call", () =>
      Effect.gen(function* () {
        const calls = yield* CallStore
        const call = yield* aCall(yield* consumerWith(10_000))
        const fate = calls.fate(call.consumerId, call.invocationId)
        assert.deepStrictEqual(yield* fate, { _tag: "Unknown" })
        yield* opened(call)
        assert.deepStrictEqual(yield* fate, { _tag: "Open" })
        yield* calls.close(yield* closingOf(call, { cost: 700 }))
        assert.deepStrictEqual(yield* fate, { _tag: "Closed", cost: money(700) })
        assert.deepStrictEqual(yield* calls.fate(call.consumerId, (yield* aCall(call.consumerId)).invocationId), {
          _tag: "Unknown"
        })
      })
    )
  })
