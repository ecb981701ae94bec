/**
 * What a node keeps of the calls that it closed, and how it finds those that its database has lost.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { uuidOfReceipt } from "../../../adapters/sql/ledger/LedgerCodes.ts"
import { storedDigest } from "../../../adapters/sql/metering/CallRows.ts"
import {
  closeAgain,
  type LostCall,
  lostCalls,
  recordLost,
  reviewLost
} from "../../../adapters/sql/metering/LostCalls.ts"
import * as PostgresCallStore from "../../../adapters/sql/metering/PostgresCallStore.ts"
import { makeRecentClosings } from "../../../adapters/sql/metering/RecentClosings.ts"
import { storeSql } from "../../../adapters/sql/shared/StoreSql.ts"
import { LedgerStore } from "../../../domain/ledger/LedgerStore.ts"
import { CallStore, replayedResult } from "../../../domain/metering/CallStore.ts"
import { postgresLedgerPorts } from "../../contracts/ledgerPorts.ts"
import { aCall, closingOf, consumerWith, opened } from "../../contracts/ledgerSamples.ts"

const PG = { timeout: "60 seconds", excludeTestServices: true } as const
/** Everything that is special in an array of rows. */
const TOOL_NAME = String.raw`a "tool", {of} (many) \parts` + " – 'здесь'"
const KEY_HASH = "ab".repeat(32)

const recent = makeRecentClosings(() => 0)
const keeping = Layer.effect(CallStore, PostgresCallStore.make(recent)).pipe(Layer.provideMerge(postgresLedgerPorts))

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
      assert.deepStrictEqual(yield* recordLost(store, kept, true), [])

      const gone = [one!, four!].map(uuidOfReceipt)
      yield* sql`DELETE FROM receipts WHERE receipt_id = ANY (${gone}::uuid[])`
      yield* sql`UPDATE receipts SET signature = '\\x01' WHERE receipt_id = ${uuidOfReceipt(three!)}`
      const found = yield* recordLost(store, kept, true)
      assert.sameMembers([...found], [one, three, four])
      assert.notInclude(found, two)
      assert.deepStrictEqual(yield* recordLost(store, kept, true), [])

      const listed: ReadonlyArray<LostCall> = yield* lostCalls(store, 10)
      assert.sameMembers(
        listed.map(({ receiptId }) => receiptId),
        [...found]
      )
      assert.isTrue(listed.every(({ isAcknowledged }) => isAcknowledged))
      for (const call of listed) {
        assert.deepStrictEqual(
          [call.consumerId, call.toolName, call.costMicrocents, call.isRepeated, call.reviewedAt],
          [consumerId, TOOL_NAME, 1_000n, false, null]
        )
      }
      // The key was used again.
      yield* sql`INSERT INTO call_idempotency (consumer_id, key_hash, request_hash, invocation_id, created_at)
        VALUES (${consumerId}, ${Buffer.from(storedDigest(KEY_HASH), "hex")}, '', ${uuidOfReceipt(two!)}, now())`
      assert.isTrue((yield* lostCalls(store, 10)).every(({ isRepeated }) => isRepeated))
      assert.strictEqual(yield* reviewLost(store), 3)
      assert.strictEqual(yield* reviewLost(store), 0)
      assert.isTrue((yield* lostCalls(store, 10)).every(({ reviewedAt }) => reviewedAt !== null))
    })
  )
})

it.layer(keeping, PG)("A failover that lost", (it) => {
  it.effect("the end of calls and kept their openings has them closed again, once, by the same receipts", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const store = yield* storeSql
      const { close, open } = yield* CallStore
      const ledger = yield* LedgerStore
      const consumerId = yield* consumerWith(10_000)
      const idempotency = { keyHash: KEY_HASH, requestHash: "cd".repeat(32) }
      const calls = [yield* aCall(consumerId), yield* aCall(consumerId, { idempotency }), yield* aCall(consumerId)]
      for (const call of calls) yield* opened(call)
      const [plain, keyed, swept] = yield* Effect.forEach(calls, (call) => closingOf(call, { cost: 700 }))
      // What the standby has: the calls are open, and the money is held.
      yield* sql`CREATE TABLE kept_opens AS SELECT * FROM calls_open`
      yield* sql`CREATE TABLE kept_wallets AS SELECT * FROM wallets`
      const answer = { status: 200, headers: {}, body: "the result" }
      yield* close(plain!)
      yield* close({ ...keyed!, keyHash: KEY_HASH, answer })
      yield* close({ ...swept!, receipt: { ...swept!.receipt, signature: "00".repeat(32) } })
      assert.strictEqual((yield* close(swept!))._tag, "AlreadyClosed")
      for (const table of ["receipts", "account_balances", "wallets", "call_idempotency", "receipts_unlogged"]) {
        yield* sql.unsafe(`DELETE FROM ${table}`)
      }
      yield* sql`INSERT INTO calls_open SELECT * FROM kept_opens`
      yield* sql`INSERT INTO wallets SELECT * FROM kept_wallets`

      const lastThree = [...recent.all()].slice(0, 4)
      const ids = [plain!, keyed!].map(({ receipt }) => receipt.receipt_id)
      assert.include(yield* closeAgain(store, lastThree), ids[0])
      assert.deepStrictEqual(yield* closeAgain(store, lastThree), [])
      assert.deepStrictEqual(yield* recordLost(store, lastThree, true), [])
      // The one that another receipt had ended is left to the sweeper.
      const { credits, debits, held } = yield* ledger.wallet(consumerId)
      assert.deepStrictEqual([credits, debits, held], [10_000n, 1_400n, 1_000n])
      const replay = yield* open(yield* aCall(consumerId, { idempotency }))
      assert.strictEqual(replay._tag, "Replay")
      if (replay._tag !== "Replay") return
      const gone = yield* Effect.flip(replayedResult(replay.answer, 0))
      assert.deepStrictEqual([gone.receiptId, gone.outcome, gone.costMicrocents], [ids[1], "success", 700n])
      assert.include(gone.message, "a failover of the database lost it")
      assert.notInclude(gone.message, "disconnected")
    })
  )

  it.effect("the opening of a call that was forwarded ends it without a charge, and lists it", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { close } = yield* CallStore
      const consumerId = yield* consumerWith(10_000)
      const calls = yield* Effect.replicateEffect(aCall(consumerId), 3)
      for (const call of calls) yield* opened(call)
      const [lost] = calls
      yield* sql`DELETE FROM calls_open WHERE invocation_id = ${uuidOfReceipt(lost!.invocationId)}`
      yield* sql`UPDATE wallets SET held = held - 1000 WHERE consumer_id = ${consumerId}`
      const closings = yield* Effect.forEach(calls, (call) => closingOf(call))
      const answers = yield* Effect.forEach(closings, close, { concurrency: "unbounded" })
      assert.deepStrictEqual(
        answers.map(({ _tag }) => _tag),
        ["AlreadyClosed", "Closed", "Closed"]
      )
      assert.strictEqual((yield* close(closings[0]!))._tag, "AlreadyClosed")
      const { debits, held } = yield* (yield* LedgerStore).wallet(consumerId)
      assert.deepStrictEqual([debits, held], [2_000n, 0n])
      const listed = (yield* lostCalls(yield* storeSql, 100)).filter((one) => one.consumerId === consumerId)
      assert.deepStrictEqual(
        listed.map(({ costMicrocents, isAcknowledged, receiptId }) => [receiptId, costMicrocents, isAcknowledged]),
        [[lost!.invocationId, 1_000n, false]]
      )
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
