/**
 * What an McpStreamStore must do.
 */
import { DateTime, Effect } from "effect"
import assert from "node:assert/strict"
import { McpStreamStore, type StoredEvent } from "../../../domain/mcp/McpStores.ts"
import { Entropy } from "../../../domain/shared/Cryptography.ts"
import { instant } from "../shared/AccountSamples.ts"
import { type Contract, rule } from "../shared/Contract.ts"

const AT = instant("2026-11-20T12:00:00.000Z")
const aStreamId = Effect.flatMap(Entropy, (entropy) => entropy.hex(16))

const events: ReadonlyArray<StoredEvent> = [
  { sequence: 3, sealedMessage: "three" },
  { sequence: 4, sealedMessage: `"{,}\\ é` },
  { sequence: 5, sealedMessage: undefined }
]

export const mcpStreamStoreContract: Contract<McpStreamStore> = [
  rule(
    "returns the events of a stream in order, from a place on and up to a number",
    Effect.gen(function* () {
      const store = yield* McpStreamStore
      const [streamId, other] = [yield* aStreamId, yield* aStreamId]
      assert.deepEqual(yield* store.read(streamId, 0, 10), [])
      yield* store.append(streamId, events.slice(1), AT)
      yield* store.append(streamId, events.slice(0, 1), AT)
      yield* store.append(other, [{ sequence: 4, sealedMessage: "other" }], AT)
      assert.deepEqual(yield* store.read(streamId, 0, 10), events)
      assert.deepEqual(yield* store.read(streamId, 4, 10), events.slice(1))
      assert.deepEqual(yield* store.read(streamId, 0, 2), events.slice(0, 2))
      assert.deepEqual(yield* store.read(streamId, 6, 10), [])
    })
  ),

  rule(
    "stores an event once",
    Effect.gen(function* () {
      const store = yield* McpStreamStore
      const streamId = yield* aStreamId
      yield* store.append(streamId, events, AT)
      yield* store.append(streamId, [{ sequence: 3, sealedMessage: "again" }], AT)
      yield* store.append(streamId, [], AT)
      assert.deepEqual(yield* store.read(streamId, 0, 10), events)
    })
  ),

  rule(
    "deletes old events in portions",
    Effect.gen(function* () {
      const store = yield* McpStreamStore
      const [old, recent] = [yield* aStreamId, yield* aStreamId]
      const before = instant("2020-01-01T00:00:00.000Z")
      yield* store.append(old, events, DateTime.subtract(before, { seconds: 1 }))
      yield* store.append(recent, events, before)
      for (const pruned of [2, 1, 0]) assert.equal(yield* store.prune(before, 2), pruned)
      assert.deepEqual(yield* store.read(old, 0, 10), [])
      assert.deepEqual(yield* store.read(recent, 0, 10), events)
    })
  )
]
