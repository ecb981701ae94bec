/**
 * Stores that share their data are one group: `core` does not start on a part of it.
 */
// @effect-diagnostics missingEffectContext:off
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { MemoryLedger } from "../../adapters/memory/ledger/MemoryLedger.ts"
import * as MemoryLedgerStores from "../../adapters/memory/ledger/MemoryLedgerStores.ts"
import { Ledger } from "../../domain/ledger/Ledger.ts"
import { LedgerStore } from "../../domain/ledger/LedgerStore.ts"
import { CallStore } from "../../domain/metering/CallStore.ts"
import { Loads } from "../../domain/payments/Loads.ts"
import { WaitlistStore } from "../../domain/platform/Submissions.ts"
import { Registration } from "../../domain/providers/Registration.ts"
import { StoreUnavailable } from "../../domain/shared/StoreUnavailable.ts"
import { ToolUpstream } from "../../domain/upstream/ToolUpstream.ts"
import { Books } from "../../src/layers/Books.ts"
import { core } from "../../src/layers/Core.ts"
import { memoryPorts } from "../../src/layers/MemoryPorts.ts"
import { memoryStores } from "../../src/layers/MemoryStores.ts"

const noTools = Layer.mock(ToolUpstream, {})
/** Without `fresh` it would be the very ledger of the other stores. */
const ownLedger = Layer.fresh(MemoryLedgerStores.ledgerStore.pipe(Layer.provide(MemoryLedger.layer)))

const aLoad = Effect.gen(function* () {
  const { consumer } = yield* (yield* Registration).consumer(
    { name: "Ada", email: "ada@example.org", useCase: "", rateLimitRpm: undefined },
    undefined
  )
  yield* (yield* Loads).load({ consumerId: consumer.id, amountCents: 500, key: undefined })
  return (yield* (yield* Ledger).wallet(consumer.id)).available
})

describe("core", () => {
  it.effect("does not start on a ledger of its own beside the other stores", () =>
    Effect.gen(function* () {
      const market = core.pipe(Layer.provide(ownLedger), Layer.provide(noTools), Layer.provide(memoryPorts))
      const failure = yield* Effect.flip(Effect.scoped(Layer.build(market)))
      assert.strictEqual(
        failure.message,
        "LedgerStore does not belong to the Books that were provided: the other stores would not see the data. Provide a " +
          "whole group with Books.layer, or wrap a store of the group with Books.wrap."
      )
    })
  )

  it.effect("does not start on stores of two groups", () =>
    Effect.gen(function* () {
      const other = Layer.effect(CallStore, CallStore).pipe(Layer.provide(Layer.fresh(memoryStores)))
      const market = core.pipe(Layer.provide([other, ownLedger]), Layer.provide(noTools), Layer.provide(memoryPorts))
      const failure = yield* Effect.flip(Effect.scoped(Layer.build(market)))
      assert.match(failure.message, /^CallStore, LedgerStore do not belong/u)
    })
  )

  it.effect("starts on another whole group, and on a store that shares nothing", () =>
    Effect.gen(function* () {
      const market = core.pipe(
        Layer.provide(Layer.mock(WaitlistStore, {})),
        Layer.provideMerge(Layer.fresh(memoryStores)),
        Layer.provide(noTools),
        Layer.provide(memoryPorts)
      )
      assert.strictEqual(yield* Effect.provide(aLoad, market), 5_000_000n)
    })
  )

  it.effect("starts on a wrapped store, which it uses", () =>
    Effect.gen(function* () {
      const away = Effect.suspend(() => new StoreUnavailable({ reason: "unreachable", cause: "planted" }))
      let read = 0
      const market = core.pipe(
        Layer.provide(Books.wrap(LedgerStore, (store) => ({ ...store, post: () => away }))),
        Layer.provide(
          Books.wrap(LedgerStore, (store) => ({
            ...store,
            wallet: (id) =>
              Effect.suspend(() => {
                read++
                return store.wallet(id)
              })
          }))
        ),
        Layer.provide(noTools),
        Layer.provide(memoryPorts)
      )
      yield* Effect.gen(function* () {
        assert.strictEqual((yield* Effect.flip(aLoad))._tag, "StoreUnavailable")
        const { consumer } = yield* (yield* Registration).consumer(
          { name: "Grace", email: "grace@example.org", useCase: "", rateLimitRpm: undefined },
          undefined
        )
        assert.strictEqual((yield* (yield* Ledger).wallet(consumer.id)).available, 0n)
      }).pipe(Effect.provide(market))
      assert.strictEqual(read, 1)
    })
  )

  it.effect("starts on two wrapped stores, merged or one before the other, and uses both", () =>
    Effect.gen(function* () {
      const made: Array<string> = []
      const ledger = Books.wrap(LedgerStore, (store) => {
        made.push("ledger")
        return { ...store }
      })
      const calls = Books.wrap(CallStore, (store) => {
        made.push("calls")
        return { ...store }
      })
      for (const wrapped of [Layer.merge(ledger, calls), Layer.provideMerge(ledger, calls)]) {
        const market = core.pipe(Layer.provide(wrapped), Layer.provide(noTools), Layer.provide(memoryPorts))
        assert.strictEqual(yield* Effect.provide(aLoad, market), 5_000_000n)
      }
      assert.deepStrictEqual(made.toSorted(), ["calls", "calls", "ledger", "ledger"])
    })
  )

  it.effect("does not start on a wrapped store of another group", () =>
    Effect.gen(function* () {
      const market = core.pipe(
        Layer.provide(Books.wrap(LedgerStore, (store) => ({ ...store }))),
        Layer.provide(ownLedger),
        Layer.provide(noTools),
        Layer.provide(memoryPorts)
      )
      const failure = yield* Effect.flip(Effect.scoped(Layer.build(market)))
      assert.match(failure.message, /^LedgerStore does not belong/u)
    })
  )

  it("takes a group with all of its stores only", () => {
    const groups = [
      Books.layer(memoryStores),
      // @ts-expect-error Every store of the group is missing but one.
      Books.layer(ownLedger),
      // @ts-expect-error A store that shares nothing is no part of the group.
      Books.wrap(WaitlistStore, (store) => store)
    ]
    assert.lengthOf(groups, 3)
  })
})
