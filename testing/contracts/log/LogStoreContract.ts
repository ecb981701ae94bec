/**
 * What a LogStore must do under the sequencer and the log check. These rules need an empty log of its own, on which they run
 * in this order.
 */
import { Effect, Option } from "effect"
import assert from "node:assert/strict"
import { LogStore } from "../../../domain/log/LogStore.ts"
import { ReceiptLog } from "../../../domain/log/ReceiptLog.ts"
import { Sequencer } from "../../../domain/log/Sequencer.ts"
import { ReceiptId } from "../../../domain/shared/Ids.ts"
import { UnitOfWork } from "../../../domain/shared/StoreUnavailable.ts"
import { aProvider } from "../shared/AccountSamples.ts"
import { aReceiptId } from "../shared/CallSamples.ts"
import type { Contract } from "../shared/Contract.ts"
import { rootOfInclusion } from "./InclusionProof.ts"
import { atOnce, consumerWith } from "../shared/LedgerSamples.ts"
import { aNode, AT, check, logRule, type LogStores, receipts, sequenceAll, sha256 } from "../shared/LogSamples.ts"
import { aListedTool, called } from "../shared/ToolSamples.ts"

export const logStoreContract: Contract<LogStores> = [
  logRule(
    "gives every receipt one position, with a valid proof",
    Effect.gen(function* () {
      const made = yield* receipts(20)
      const store = yield* LogStore
      assert.deepEqual(yield* store.find(made[0]!.receipt_id), Option.none())
      assert.equal(yield* store.waiting, true)
      assert.equal(yield* aNode(sequenceAll), 20)
      assert.equal(yield* store.waiting, false)
      assert.equal(yield* aNode(sequenceAll), 0)
      const places = new Set<number>()
      for (const receipt of made) {
        const proof = yield* aNode(Effect.flatMap(ReceiptLog, (log) => log.prove(receipt.receipt_id, undefined)))
        const root = rootOfInclusion(sha256, proof.leaf, proof.index, proof.size, proof.path)
        assert.deepEqual(Buffer.from(root!), Buffer.from(proof.root))
        const found = Option.getOrThrow(yield* store.find(receipt.receipt_id))
        assert.deepEqual([found.receipt, found.index, found.log], [receipt, proof.index, proof.log])
        assert.deepEqual([found.tile.level, found.tile.index], [0, 0])
        const leaf = found.tile.hashes.subarray(proof.index * 32, proof.index * 32 + 32)
        assert.deepEqual(Buffer.from(leaf), Buffer.from(proof.leaf))
        places.add(proof.index)
      }
      assert.deepEqual(
        [...places].toSorted((a, b) => a - b),
        [...made.keys()]
      )
      const found = yield* aNode(check)
      assert.deepEqual(found, { logs: 1, receipts: 20, waiting: 0, findings: [] })
    })
  ),

  logRule(
    "finds no position of an unknown receipt",
    Effect.gen(function* () {
      const id = yield* aReceiptId
      for (const none of [id, ReceiptId.make(id.slice(0, 21)), ReceiptId.make(`${id}0`)]) {
        assert.deepEqual(yield* (yield* LogStore).find(none), Option.none())
      }
    })
  ),

  logRule(
    "creates a log of a number once",
    Effect.gen(function* () {
      const store = yield* LogStore
      const [first] = yield* store.logs
      assert.equal(yield* store.begin({ ...first!, origin: "another" }), false)
      assert.deepEqual(
        (yield* store.logs).map(({ origin }) => origin),
        [first!.origin]
      )
    })
  ),

  logRule(
    "stores nothing of an interrupted batch, and all of it the next time",
    Effect.gen(function* () {
      const made = yield* receipts(5)
      const store = yield* LogStore
      const before = (yield* store.logs)[0]!
      const broken = LogStore.of({
        ...store,
        append: (batch) => Effect.andThen(store.append(batch), Effect.die(new Error("the node went away")))
      })
      const exit = yield* Effect.exit(Effect.provideService(aNode(sequenceAll), LogStore, broken))
      assert.equal(exit._tag, "Failure")
      assert.deepEqual((yield* store.logs)[0], before)
      assert.deepEqual(yield* store.find(made[0]!.receipt_id), Option.none())
      assert.equal(yield* aNode(sequenceAll), 5)
      assert.equal((yield* store.logs)[0]!.size, before.size + 5)
      assert.deepEqual((yield* aNode(check)).findings, [])
    })
  ),

  logRule(
    "runs one sequencer at a time while calls are closed",
    Effect.gen(function* () {
      const store = yield* LogStore
      const before = (yield* store.logs)[0]!.size
      const count = 8 * 40
      const node = aNode(
        Effect.gen(function* () {
          const { sequence } = yield* Sequencer
          while ((yield* store.logs)[0]!.size < before + count)
            yield* Effect.andThen(sequence, Effect.sleep("1 millis"))
        })
      )
      yield* Effect.all([atOnce(8, () => receipts(40)), node, node, node], { concurrency: "unbounded" })
      assert.equal((yield* store.logs)[0]!.size, before + count)
      assert.deepEqual((yield* aNode(check)).findings, [])
    })
  ),

  logRule(
    "creates a new log with a new key, and keeps the old one unchanged",
    Effect.gen(function* () {
      const store = yield* LogStore
      const [old] = yield* receipts(1)
      yield* aNode(sequenceAll)
      const proveOld = Effect.flatMap(ReceiptLog, (log) => log.prove(old!.receipt_id, undefined))
      const before = yield* aNode(proveOld)

      const [fresh] = yield* receipts(1)
      assert.equal(yield* aNode(sequenceAll, "6f"), 1)
      const logs = yield* store.logs
      assert.deepEqual(
        logs.map((log) => log.number),
        [1, 2]
      )
      assert.deepEqual(logs[0], before.log)
      assert.equal((yield* aNode(proveOld, "6f")).checkpoint, before.checkpoint)
      const proof = yield* aNode(Effect.flatMap(ReceiptLog, (log) => log.prove(fresh!.receipt_id, undefined)))
      assert.deepEqual([proof.log.number, proof.index], [2, 0])
      assert.notEqual(proof.key, before.key)

      yield* receipts(1)
      assert.equal(yield* aNode(sequenceAll), 0)
      assert.equal(yield* aNode(sequenceAll, "6f"), 1)
      const found = yield* aNode(check)
      assert.deepEqual([found.logs, found.waiting, found.findings], [2, 0, []])
    })
  ),

  logRule(
    "passes the cause of an error to the sequencer, for single and batched closings",
    Effect.gen(function* () {
      const store = yield* LogStore
      const consumerId = yield* consumerWith(1_000_000)
      const tool = yield* aListedTool(yield* aProvider(), "picky")
      const endings = [
        { status: "success", cause: undefined },
        { status: "error", cause: undefined },
        { status: "error", cause: "input_rejected" },
        { status: "error", cause: "canceled" }
      ] as const
      const close = (n: number) => called(consumerId, tool, AT, { ...endings[n % 4]!, cost: 0 })
      const alone = yield* Effect.forEach([0, 1, 2, 3], close)
      const together = yield* atOnce(12, close)
      const taken = yield* (yield* UnitOfWork).atomically(store.take(100))
      const found = new Map(taken.map(({ cause, receipt }) => [receipt.receipt_id, [receipt.status, cause]]))
      for (const [n, { receipt }] of [...alone, ...together].entries()) {
        const { cause, status } = endings[n % 4]!
        assert.deepEqual(found.get(receipt.receipt_id), [status, cause])
      }
    })
  )
]
