/**
 * What a NamePinStore must do.
 */
import { Effect } from "effect"
import assert from "node:assert/strict"
import { NamePinStore } from "../../../domain/metering/ToolDirectory.ts"
import { instant } from "../shared/AccountSamples.ts"
import { aToolId } from "../shared/CallSamples.ts"
import { type Contract, rule } from "../shared/Contract.ts"
import { aConsumerId } from "../shared/LedgerSamples.ts"

const AT = instant("2026-11-20T12:00:00.000Z")
const RACERS = 40

export const namePinStoreContract: Contract<NamePinStore> = [
  rule(
    "keeps the first tool of a name, for each consumer",
    Effect.gen(function* () {
      const store = yield* NamePinStore
      const [consumerId, other] = [yield* aConsumerId, yield* aConsumerId]
      const [first, second] = [yield* aToolId, yield* aToolId]
      assert.deepEqual(yield* store.find(consumerId, "echo", 10), { _tag: "Free" })
      assert.equal(yield* store.pin({ consumerId, toolName: "echo", toolId: first }, AT), first)
      assert.equal(yield* store.pin({ consumerId, toolName: "echo", toolId: second }, AT), first)
      assert.deepEqual(yield* store.find(consumerId, "echo", 10), { _tag: "Pinned", toolId: first })
      assert.deepEqual(yield* store.find(consumerId, "Echo", 10), { _tag: "Free" })
      assert.deepEqual(yield* store.find(other, "echo", 10), { _tag: "Free" })
      assert.equal(yield* store.pin({ consumerId: other, toolName: "echo", toolId: second }, AT), second)
    })
  ),

  rule(
    "returns one tool to all concurrent pins of a name",
    Effect.gen(function* () {
      const store = yield* NamePinStore
      const consumerId = yield* aConsumerId
      const tools = yield* Effect.all(Array.from({ length: RACERS }, () => aToolId))
      const winners = yield* Effect.forEach(
        tools,
        (toolId) => store.pin({ consumerId, toolName: "echo", toolId }, AT),
        { concurrency: "unbounded" }
      )
      assert.equal(new Set(winners).size, 1)
      assert.deepEqual(yield* store.find(consumerId, "echo", 10), { _tag: "Pinned", toolId: winners[0]! })
    })
  ),

  rule(
    "reports when a consumer has the maximum number of pins",
    Effect.gen(function* () {
      const store = yield* NamePinStore
      const consumerId = yield* aConsumerId
      const toolId = yield* aToolId
      for (const toolName of ["a", "b"]) yield* store.pin({ consumerId, toolName, toolId }, AT)
      assert.deepEqual(yield* store.find(consumerId, "c", 3), { _tag: "Free" })
      assert.deepEqual(yield* store.find(consumerId, "c", 2), { _tag: "Full" })
      assert.deepEqual(yield* store.find(consumerId, "b", 2), { _tag: "Pinned", toolId })
    })
  ),

  rule(
    "removes the pins of one consumer",
    Effect.gen(function* () {
      const store = yield* NamePinStore
      const [erased, other] = [yield* aConsumerId, yield* aConsumerId]
      const toolId = yield* aToolId
      for (const consumerId of [erased, other]) yield* store.pin({ consumerId, toolName: "echo", toolId }, AT)
      yield* store.removeAll(erased)
      assert.deepEqual(yield* store.find(erased, "echo", 10), { _tag: "Free" })
      assert.deepEqual(yield* store.find(other, "echo", 10), { _tag: "Pinned", toolId })
    })
  )
]
