/**
 * What a StoreWatch must tell of its books. The rule needs stores of its own.
 */
import { Clock, DateTime, Effect } from "effect"
import assert from "node:assert/strict"
import { CallStore } from "../../../domain/metering/CallStore.ts"
import { StoreWatch } from "../../../domain/platform/Health.ts"
import { aCall, type Books, closingOf, opened } from "../shared/CallSamples.ts"
import type { Contract } from "../shared/Contract.ts"
import { consumerWith, ledgerRule } from "../shared/LedgerSamples.ts"

export const storeWatchContract: Contract<StoreWatch | Books> = [
  ledgerRule(
    "counts open and overdue calls, what they hold, and receipts that are not in the log",
    Effect.gen(function* () {
      const watch = yield* StoreWatch
      const calls = yield* CallStore
      const nothing = { openCalls: 0, overdueCalls: 0, heldMicrocents: 0n, unloggedReceipts: 0, lostCalls: 0 }
      assert.deepEqual(yield* watch.backlog, nothing)
      const consumer = yield* consumerWith(10_000)
      const openedAt = DateTime.makeUnsafe(yield* Clock.currentTimeMillis)
      const running = yield* aCall(consumer, { openedAt, deadlineAt: DateTime.add(openedAt, { hours: 1 }) })
      const overdue = yield* aCall(consumer, { openedAt, deadlineAt: DateTime.subtract(openedAt, { hours: 1 }) })
      for (const call of [running, overdue]) yield* opened(call)
      assert.deepEqual(yield* watch.backlog, { ...nothing, openCalls: 2, overdueCalls: 1, heldMicrocents: 2_000n })
      for (const call of [running, overdue]) yield* calls.close(yield* closingOf(call))
      assert.deepEqual(yield* watch.backlog, { ...nothing, unloggedReceipts: 2 })
    })
  ),

  ledgerRule(
    "answers a ping, and counts its connections by state",
    Effect.gen(function* () {
      const watch = yield* StoreWatch
      const notice = yield* watch.ping
      assert.ok(notice === undefined || notice.endsWith("."), `"${notice}" is not a sentence`)
      const connections = yield* watch.connections
      assert.equal(new Set(connections.map(({ state }) => state)).size, connections.length)
      for (const { count } of connections) assert.ok(count > 0)
    })
  )
]
