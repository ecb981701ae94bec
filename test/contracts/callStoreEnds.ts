import { assert, it } from "@effect/vitest"
import { Effect, type Layer } from "effect"
import { Ledger } from "../../domain/ledger/Ledger.ts"
import { CallStore, type OpenCall } from "../../domain/metering/CallStore.ts"
import type { LedgerPorts } from "./ledgerPorts.ts"
import { aCall, aConsumerId, atOnce, closingOf, consumerWith, money, opened, tagsOf } from "./ledgerSamples.ts"

const opening = (call: OpenCall) => Effect.as(opened(call), call)

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

    it.effect.each([
      { said: "what was held", held: 1_000n },
      { said: "too much", held: 5_000n },
      { said: "nothing", held: 0n }
    ])("gives back what was held, where $said is said to have been, whatever else happens at once", ({ held }) =>
      Effect.gen(function* () {
        const calls = yield* CallStore
        const consumers = yield* Effect.forEach([3_000, 3_000, 1_000, 2_500], consumerWith)
        const under = yield* Effect.forEach(consumers, (consumerId) => Effect.flatMap(aCall(consumerId), opening))
        const again = yield* closingOf(under[0]!, { cost: 200, held })
        yield* calls.close(again)
        const closings = yield* Effect.forEach(under, (call) => closingOf(call, { cost: 400, held }))
        const openings = yield* Effect.forEach(consumers, (consumerId) =>
          aCall(consumerId, { holdAmount: money(1_600) })
        )
        // Of one that never paid anything in, too.
        const poor = yield* aCall(yield* aConsumerId)
        const [closed, opened] = yield* Effect.all(
          [
            Effect.forEach([again, ...closings], (closing) => calls.close(closing), { concurrency: "unbounded" }),
            Effect.forEach([...openings, poor], (call) => calls.open(call), { concurrency: "unbounded" })
          ],
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual(tagsOf(closed), { Closed: 4, AlreadyClosed: 1 })
        assert.deepStrictEqual(
          opened.map(({ _tag }) => _tag),
          ["Opened", "Opened", "InsufficientFunds", "Opened", "InsufficientFunds"]
        )
        const wallets = yield* Effect.forEach(consumers, (yield* Ledger).wallet)
        assert.deepStrictEqual(
          wallets.map((wallet) => [wallet.available, wallet.held]),
          [
            [1_200n, 1_600n],
            [1_000n, 1_600n],
            [600n, 0n],
            [500n, 1_600n]
          ]
        )
      })
    )

    it.effect("knows what has become of a call", () =>
      Effect.gen(function* () {
        const calls = yield* CallStore
        const call = yield* aCall(yield* consumerWith(10_000))
        const outcome = calls.outcome(call.consumerId, call.invocationId)
        assert.deepStrictEqual(yield* outcome, { _tag: "Unknown" })
        yield* opened(call)
        assert.deepStrictEqual(yield* outcome, { _tag: "Open" })
        yield* calls.close(yield* closingOf(call, { cost: 700 }))
        assert.deepStrictEqual(yield* outcome, { _tag: "Closed", cost: money(700) })
        assert.deepStrictEqual(yield* calls.outcome(call.consumerId, (yield* aCall(call.consumerId)).invocationId), {
          _tag: "Unknown"
        })
      })
    )
  })
