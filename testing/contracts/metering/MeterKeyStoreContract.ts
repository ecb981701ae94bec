/**
 * What a MeterKeyStore must do.
 */
import { DateTime, Effect } from "effect"
import assert from "node:assert/strict"
import { type MeterKey, MeterKeyStore } from "../../../domain/metering/DirectMetering.ts"
import { Entropy } from "../../../domain/shared/Cryptography.ts"
import { type Contract, rule } from "../shared/Contract.ts"
import { aConsumerId, aProviderId, atOnce } from "../shared/LedgerSamples.ts"

const AT = DateTime.makeUnsafe("2026-11-20T12:00:00.000Z")

/** A meter key that is not bound. */
const aMeterKey = Effect.gen(function* () {
  const key: MeterKey = {
    providerId: yield* aProviderId,
    keyHash: yield* (yield* Entropy).hex(32),
    consumerId: yield* aConsumerId
  }
  return key
})

export const meterKeyStoreContract: Contract<MeterKeyStore> = [
  rule(
    "binds a key to one consumer, of that provider",
    Effect.gen(function* () {
      const keys = yield* MeterKeyStore
      const key = yield* aMeterKey
      const other = { ...key, consumerId: yield* aConsumerId }
      assert.equal(yield* keys.bind(key, AT), true)
      assert.equal(yield* keys.bind(other, AT), false)
      assert.equal(yield* keys.bind(key, AT), true)
      assert.equal(yield* keys.bind({ ...other, providerId: yield* aProviderId }, AT), true)
      assert.equal(yield* keys.bind({ ...other, keyHash: yield* (yield* Entropy).hex(32) }, AT), true)
    })
  ),

  rule(
    "releases a key when all of its bindings are undone",
    Effect.gen(function* () {
      const keys = yield* MeterKeyStore
      const key = yield* aMeterKey
      const other = { ...key, consumerId: yield* aConsumerId }
      yield* keys.bind(key, AT)
      yield* keys.bind(key, AT)
      yield* keys.release(other)
      yield* keys.release(key)
      assert.equal(yield* keys.bind(other, AT), false)
      yield* keys.release(key)
      yield* keys.release(key)
      assert.equal(yield* keys.bind(other, AT), true)
      assert.equal(yield* keys.bind(key, AT), false)
    })
  ),

  rule(
    "binds a key to one of several concurrent consumers",
    Effect.gen(function* () {
      const keys = yield* MeterKeyStore
      const key = yield* aMeterKey
      const consumers = yield* Effect.forEach(Array.from({ length: 8 }), () => aConsumerId)
      const bound = yield* atOnce(64, (n) => {
        const consumerId = consumers[n % 8]!
        return Effect.map(keys.bind({ ...key, consumerId }, AT), (yes) => (yes ? [consumerId] : []))
      })
      assert.deepEqual([new Set(bound.flat()).size, bound.flat().length], [1, 8])
    })
  ),

  rule(
    "never binds a key to two consumers under concurrent binding and undoing",
    Effect.gen(function* () {
      const keys = yield* MeterKeyStore
      const key = yield* aMeterKey
      const holding = new Map<string, number>()
      const consumers = [yield* aConsumerId, yield* aConsumerId, yield* aConsumerId]
      const turns = yield* atOnce(90, (n) =>
        Effect.gen(function* () {
          const mine = { ...key, consumerId: consumers[n % 3]! }
          if (!(yield* keys.bind(mine, AT))) return false
          holding.set(mine.consumerId, (holding.get(mine.consumerId) ?? 0) + 1)
          yield* Effect.yieldNow
          const holders = [...holding].filter(([, bindings]) => bindings > 0)
          assert.deepEqual(
            holders.map(([consumer]) => consumer),
            [mine.consumerId]
          )
          holding.set(mine.consumerId, holding.get(mine.consumerId)! - 1)
          yield* keys.release(mine)
          return true
        })
      )
      assert.ok(turns.includes(true))
      assert.equal(yield* keys.bind(key, AT), true, "all were taken back")
    })
  ),

  rule(
    "prunes keys last bound before a time, up to a limit",
    Effect.gen(function* () {
      const keys = yield* MeterKeyStore
      const [old, edge] = [
        DateTime.makeUnsafe("2020-01-01T00:00:00.000Z"),
        DateTime.makeUnsafe("2020-02-01T00:00:00.000Z")
      ]
      const stale = [yield* aMeterKey, yield* aMeterKey, yield* aMeterKey]
      const [young, renewed] = [yield* aMeterKey, yield* aMeterKey]
      for (const key of [...stale, renewed]) yield* keys.bind(key, old)
      yield* keys.bind(young, edge)
      yield* keys.bind(renewed, edge)
      yield* keys.bind(renewed, DateTime.subtract(old, { days: 1 }))
      assert.equal(yield* keys.prune(edge, 2), 2)
      assert.equal(yield* keys.prune(edge, 2), 1)
      assert.equal(yield* keys.prune(edge, 2), 0)
      const consumerId = yield* aConsumerId
      for (const key of stale) assert.equal(yield* keys.bind({ ...key, consumerId }, AT), true)
      for (const key of [young, renewed]) assert.equal(yield* keys.bind({ ...key, consumerId }, AT), false)
    })
  )
]
