/**
 * A log whose database lost its tail: no node that knows the signed tree signs a smaller or another one, the log is
 * stopped for every node, and a successor begins with a statement that names the old log. These rules need an empty log of
 * its own, on which they run in this order.
 */
import { Effect, Option } from "effect"
import assert from "node:assert/strict"
import { type Log, LogStore } from "../../../domain/log/LogStore.ts"
import { LogSuccession } from "../../../domain/log/LogSuccession.ts"
import { ReceiptLog } from "../../../domain/log/ReceiptLog.ts"
import { SignedTreeFile } from "../../../domain/log/Sequencer.ts"
import { parseKey, parseNote, toBase64 } from "../../../domain/log/SignedNote.ts"
import type { Contract } from "../shared/Contract.ts"
import { aNode, logRule, type LogStores, receipts, sequenceAll, sha256 } from "../shared/LogSamples.ts"

const lastLog = Effect.flatMap(LogStore, (store) => Effect.map(store.logs, (logs) => logs.at(-1)!))

/** The store after a restore: an earlier row of the log, but with its stop. */
const restorable = Effect.gen(function* () {
  const store = yield* LogStore
  const state: { restored: Log | undefined; isOlderThanStop: boolean } = { restored: undefined, isOlderThanStop: false }
  const seen = (log: Log): Log =>
    state.restored?.number === log.number
      ? { ...state.restored, ...(state.isOlderThanStop ? {} : { stopped: log.stopped, signedNote: log.signedNote }) }
      : log
  const service = LogStore.of({
    ...store,
    logs: Effect.map(store.logs, (logs) => logs.map(seen)),
    lock: Effect.map(store.lock, Option.map(seen))
  })
  return { state, service }
})

const aFile = () => {
  const state: { note: string | undefined } = { note: undefined }
  return {
    state,
    file: { read: Effect.sync(() => state.note), write: (note: string) => Effect.sync(() => void (state.note = note)) }
  }
}

export const logTailContract: Contract<LogStores> = [
  logRule(
    "is stopped by the node that signed more, and by one that has only its signed note",
    Effect.gen(function* () {
      const { service, state } = yield* restorable
      const { file, state: kept } = aFile()
      const store = yield* LogStore
      const restored = yield* aNode(
        Effect.gen(function* () {
          yield* receipts(3)
          assert.equal(yield* sequenceAll, 3)
          const before = yield* lastLog
          yield* receipts(2)
          assert.equal(yield* sequenceAll, 2)
          assert.equal(kept.note, (yield* lastLog).checkpoint)
          state.restored = before
          yield* receipts(1)
          assert.equal(yield* sequenceAll, 0)
          return before
        })
      ).pipe(Effect.provideService(LogStore, service), Effect.provideService(SignedTreeFile, file))
      const reason = "the database has 3 of its receipts, but a tree of 5 receipts was signed"
      const stopped = yield* lastLog
      assert.deepEqual([stopped.stopped, stopped.signedNote], [reason, kept.note])

      // The stop applies to a node without the note too: it proves nothing that needs a signature.
      const proof = Effect.flatMap(ReceiptLog, (log) =>
        Effect.flatMap(store.scan(undefined, 1), ([first]) => log.prove(first!.receipt.receipt_id, 4))
      )
      const [taken, refused] = yield* aNode(Effect.all([sequenceAll, Effect.flip(proof)]))
      assert.deepEqual([taken, refused._tag], [0, "TreeSizeUnknown"])

      // A restore from before the stop: the note is in a file.
      yield* store.stop(restored.number, "", "")
      state.isOlderThanStop = true
      const restarted = aNode(sequenceAll).pipe(
        Effect.provideService(LogStore, service),
        Effect.provideService(SignedTreeFile, file)
      )
      assert.equal(yield* restarted, 0)
      assert.equal((yield* lastLog).stopped, reason)
    })
  ),

  logRule(
    "is followed by a log with a signed statement",
    Effect.gen(function* () {
      const old = yield* lastLog
      const begun = yield* aNode(Effect.flatMap(LogSuccession, ({ begin }) => begin))
      const log = yield* lastLog
      assert.deepEqual([log.number, log.origin, log.statement], [old.number + 1, begun.origin, begun.statement])
      const key = yield* aNode(Effect.flatMap(ReceiptLog, ({ logs }) => Effect.map(logs, (all) => all.at(-1)!.key)))
      const note = parseNote(begun.statement)!
      assert.deepEqual(
        note.signatures.map((one) => one.name),
        [parseKey(sha256, key)!.name]
      )
      for (const line of [
        `log: ${log.origin}`,
        `previous: ${old.origin}`,
        `kept: ${old.size} ${toBase64(old.root)}`,
        `reason: ${old.stopped}`
      ]) {
        assert.ok(note.text.split("\n").includes(line))
      }
      assert.match(note.text, /^signed: \S+ 5 \S+$/mu)
      assert.equal(
        (yield* Effect.flip(aNode(Effect.flatMap(LogSuccession, ({ begin }) => begin))))._tag,
        "LogNotStopped"
      )
      assert.equal(yield* aNode(sequenceAll), 1, "what waited has its place in the new log")
    })
  ),

  logRule(
    "is stopped when another tree of the same or a larger size replaced it",
    Effect.gen(function* () {
      const { service, state } = yield* restorable
      yield* aNode(
        Effect.gen(function* () {
          yield* receipts(2)
          assert.equal(yield* sequenceAll, 2)
          const signed = yield* lastLog
          state.restored = { ...signed, root: signed.root.map((byte) => byte ^ 1), checkpoint: "another" }
          yield* receipts(1)
          assert.equal(yield* sequenceAll, 0)
        })
      ).pipe(Effect.provideService(LogStore, service))
      assert.match((yield* lastLog).stopped ?? "", /does not extend the signed tree of 3 receipts/u)
    })
  ),

  logRule(
    "is followed by a log that continues without the signed one in the database",
    Effect.gen(function* () {
      const lost = (yield* lastLog).checkpoint.replace((yield* lastLog).origin, "lost.example/api/v1/market/log/1")
      const { file, state } = aFile()
      state.note = lost
      const begin = aNode(Effect.flatMap(LogSuccession, (succession) => succession.begin))
      if ((yield* lastLog).stopped !== undefined) yield* begin
      const restarted = aNode(sequenceAll).pipe(Effect.provideService(SignedTreeFile, file))
      yield* restarted
      assert.match((yield* lastLog).stopped ?? "", /has no log lost\.example\/api\/v1\/market\/log\/1/u)
      const { statement } = yield* begin
      assert.match(statement, /^signed: lost\.example\S+ /mu)
      yield* receipts(1)
      assert.ok((yield* restarted) >= 1)
      assert.equal((yield* lastLog).stopped, undefined)
      assert.equal(state.note, (yield* lastLog).checkpoint)
    })
  ),

  logRule(
    "continues when other nodes extended it",
    Effect.gen(function* () {
      const other = aNode(sequenceAll)
      yield* aNode(
        Effect.gen(function* () {
          for (const count of [1, 2, 5, 300, 7]) {
            yield* receipts(count)
            yield* sequenceAll
            yield* receipts(count)
            assert.equal(yield* other, count)
          }
          yield* receipts(1)
          assert.equal(yield* sequenceAll, 1)
        })
      )
      assert.equal((yield* lastLog).stopped, undefined)
    })
  )
]
