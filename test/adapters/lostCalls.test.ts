/**
 * What a node keeps of the calls that it closed, and how it finds those that its database has lost.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { uuidOfReceipt } from "../../adapters/sql/ledger/LedgerCodes.ts"
import { type LostCall, lostCalls, recordLost, reviewLost } from "../../adapters/sql/metering/LostCalls.ts"
import { makeRecentClosings, RecentClosings } from "../../adapters/sql/metering/RecentClosings.ts"
import { storeSql } from "../../adapters/sql/shared/StoreSql.ts"
import { CallStore } from "../../domain/metering/CallStore.ts"
import { postgresLedgerPorts } from "../contracts/ledgerPorts.ts"
import { aCall, closingOf, consumerWith, opened } from "../contracts/ledgerSamples.ts"

const PG = { timeout: "60 seconds", excludeTestServices: true } as const
/** Everything that is special in an array of rows. */
const TOOL_NAME = String.raw`a "tool", {of} (many) \parts` + " – 'здесь'"
const KEY_HASH = "ab".repeat(32)

const recent = makeRecentClosings(() => 0)
const keeping = postgresLedgerPorts.pipe(Layer.provide(Layer.succeed(RecentClosings, recent)))

const aClosing = (consumerId: Effect.Success<ReturnType<typeof consumerWith>>) =>
  Effect.gen(function* () {
    const call = yield* aCall(consumerId, { toolName: TOOL_NAME })
    yield* opened(call)
    return { ...(yield* closingOf(call)), keyHash: KEY_HASH }
  })

it.layer(keeping, PG)("Calls that the database has lost", (it) => {
  it.effect("are found among those that were closed one by one and together, once, until they are reviewed", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const store = yield* storeSql
      const { close } = yield* CallStore
      const consumerId = yield* consumerWith(1_000_000)
      const closings = yield* Effect.replicateEffect(aClosing(consumerId), 6)
      yield* close(closings[0]!)
      yield* close(closings[1]!)
      yield* Effect.forEach(closings.slice(2), close, { concurrency: "unbounded" })
      const [one, two, three, four] = closings.map(({ receipt }) => receipt.receipt_id)
      // The sweeper ended this one: its receipt is another.
      const swept = { ...closings[4]!, receipt: { ...closings[4]!.receipt, signature: "00".repeat(32) } }
      assert.strictEqual((yield* close(swept))._tag, "AlreadyClosed")

      const kept = [...recent.all()]
      assert.strictEqual(kept[0]!.unused[0], swept.receipt.receipt_id)
      assert.deepStrictEqual(yield* recordLost(store, kept), [])

      const gone = [one!, four!].map(uuidOfReceipt)
      yield* sql`DELETE FROM receipts WHERE receipt_id = ANY (${gone}::uuid[])`
      yield* sql`UPDATE receipts SET signature = '\\x01' WHERE receipt_id = ${uuidOfReceipt(three!)}`
      const found = yield* recordLost(store, kept)
      assert.sameMembers([...found], [one, three, four])
      assert.notInclude(found, two)
      assert.deepStrictEqual(yield* recordLost(store, kept), [])

      const listed: ReadonlyArray<LostCall> = yield* lostCalls(store, 10)
      assert.sameMembers(
        listed.map(({ receiptId }) => receiptId),
        [...found]
      )
      for (const call of listed) {
        assert.deepStrictEqual(
          [call.consumerId, call.toolName, call.costMicrocents, call.isRepeated, call.reviewedAt],
          [consumerId, TOOL_NAME, 1_000n, false, null]
        )
      }
      // The key was used again.
      yield* sql`INSERT INTO call_idempotency (consumer_id, key_hash, request_hash, invocation_id, created_at)
        VALUES (${consumerId}, ${Buffer.from(KEY_HASH, "hex")}, '', ${uuidOfReceipt(two!)}, now())`
      assert.isTrue((yield* lostCalls(store, 10)).every(({ isRepeated }) => isRepeated))
      assert.strictEqual(yield* reviewLost(store), 3)
      assert.strictEqual(yield* reviewLost(store), 0)
      assert.isTrue((yield* lostCalls(store, 10)).every(({ reviewedAt }) => reviewedAt !== null))
    })
  )
})

it.effect("A node keeps at most a number of characters, the newest calls first", () =>
  Effect.sync(() => {
    let nowMs = 0
    const closings = makeRecentClosings(() => ++nowMs, 100)
    for (let n = 0; n < 1_000; n++) closings.add("x".repeat(10), [], [])
    const kept = [...closings.all()]
    assert.isAtLeast(kept.length, 5)
    assert.isAtMost(kept.length, 12)
    assert.deepStrictEqual(
      kept.map(({ atMs }) => atMs),
      kept.map((_, n) => 1_000 - n)
    )
  })
)
