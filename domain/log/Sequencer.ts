/**
 * Adds receipts to the log in batches. Any number of nodes may run it: the log's lock admits one at a time. Signing
 * comes before the commit, and a note is published only after its tree is committed, so a crash leaves neither a gap
 * nor a second tree of the same size. A tree that does not extend the last tree that this node knows as signed stops
 * the log: the database lost a part of it.
 */
import { Context, Effect, Layer, Option } from "effect"
import { Digest } from "../shared/Digest.ts"
import { Entropy } from "../shared/Entropy.ts"
import { UnitOfWork } from "../shared/UnitOfWork.ts"
import { commitmentOf, saltOf } from "./Commitment.ts"
import { LogSigner } from "./LogSigner.ts"
import { type Log, LogStore, noteKeyOf, type SequencedReceipt } from "./LogStore.ts"
import { sameHash } from "./MerkleProof.ts"
import { type Hash, leafHash } from "./MerkleTree.ts"
import { newLog } from "./NewLog.ts"
import { signedCheckpoint } from "./SignedNote.ts"
import { contradiction, SignedTreeFile, treeOf } from "./SignedTrees.ts"
import { edgeOf, grow } from "./Tiles.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"

/** Where the logs are served, without scheme and trailing slash; followed by its number it is a log's origin. */
export class LogHome extends Context.Service<LogHome, string>()("agent-tool-billing/domain/log/LogHome") {}

/** Receives every receipt once, in the unit of work that sequences it. */
export const ReceiptFollower = Context.Reference<
  (batch: ReadonlyArray<SequencedReceipt>) => Effect.Effect<void, StoreUnavailable>
>("agent-tool-billing/domain/log/ReceiptFollower", { defaultValue: () => () => Effect.void })

/** Per unit of work, or a few more. Four times as many as 2,048 are a third faster; larger batches would delay others too long. */
export const SequencerBatchMax = Context.Reference<number>("agent-tool-billing/domain/log/SequencerBatchMax", {
  defaultValue: () => 8_192
})
/** Hashed at once: a few milliseconds, so that calls are not delayed. */
const HASHED_AT_ONCE = 256

export class Sequencer extends Context.Service<
  Sequencer,
  {
    /** Takes one batch of queued receipts and returns its size. */
    readonly sequence: Effect.Effect<number, StoreUnavailable>
  }
>()("agent-tool-billing/domain/log/Sequencer") {
  static readonly layer = Layer.effect(
    Sequencer,
    Effect.gen(function* () {
      const store = yield* LogStore
      const signer = yield* LogSigner
      const unitOfWork = yield* UnitOfWork
      const entropy = yield* Entropy
      const home = yield* LogHome
      const follow = yield* ReceiptFollower
      const batchMax = yield* SequencerBatchMax
      const { sha256 } = yield* Digest
      const file = yield* SignedTreeFile
      /** The note of the last tree that is known to be signed. */
      let signed = yield* file.read
      let isChecked = false
      let logOwner: "unknown" | "ours" | "another's" = "unknown"

      const isOurs = (log: Log): boolean => sameHash(log.publicKey, signer.publicKey)

      /** A replaced key belongs to an old configuration: it must not take the log back from its successor. */
      const settle: Effect.Effect<void, StoreUnavailable> = Effect.gen(function* () {
        const logs = yield* store.logs
        const open = logs.at(-1)
        if (open !== undefined && isOurs(open)) {
          logOwner = "ours"
          return
        }
        if (logs.some(isOurs)) {
          logOwner = "another's"
          return yield* Effect.logWarning(
            "This node's log signing key was replaced by another: it adds no receipts to the log."
          )
        }
        yield* store.begin(yield* newLog({ sha256, entropy, signer, home }, logs.length + 1))
        // Another node may have been faster.
        return yield* settle
      })

      const leavesOf = Effect.fnUntraced(function* ({ saltKey }: Log, batch: ReadonlyArray<SequencedReceipt>) {
        const leaves: Array<{ readonly entry: Hash; readonly leaf: Hash }> = []
        for (const [at, { receipt }] of batch.entries()) {
          if (at % HASHED_AT_ONCE === HASHED_AT_ONCE - 1) yield* Effect.yieldNow
          const entry = commitmentOf(sha256, saltOf(sha256, saltKey, receipt.receipt_id), receipt)
          leaves.push({ entry, leaf: leafHash(sha256, entry) })
        }
        return leaves
      })

      const remember = Effect.fnUntraced(function* (note: string) {
        if (note === signed) return
        signed = note
        yield* file.write(note)
      })

      /** A note of another log: one that is closed, or one that this database does not have. */
      const faultOf = Effect.fnUntraced(function* (log: Log) {
        const note = signed
        if (note === undefined || note === log.checkpoint) return undefined
        const origin = treeOf(note)?.origin
        if (origin === log.origin) return yield* contradiction(sha256, note, log, store.tiles)
        const logs = yield* store.logs
        if (origin !== undefined && logs.some((one) => one.origin === origin || isStoppedFor(one, origin, log)))
          return undefined
        return `the database has no log ${origin}, of which a tree was signed`
      })

      const stop = Effect.fnUntraced(function* (log: Log, reason: string) {
        yield* store.stop(log.number, reason, signed ?? "")
        yield* Effect.logError(
          `The log ${log.origin} is stopped: ${reason}. Restore the database if you can; otherwise start a new log with ` +
            "`begin-log`."
        )
      })

      const appendBatch = Effect.gen(function* () {
        const log = Option.getOrUndefined(yield* store.lock)
        if (log === undefined || !isOurs(log) || log.stopped !== undefined) return NOTHING
        const fault = yield* faultOf(log)
        isChecked = true
        if (fault !== undefined) {
          yield* stop(log, fault)
          return NOTHING
        }
        // Hashing uses this process, the rest the database: with two halves, both are busy.
        const half = Math.ceil(batchMax / 2)
        const first = yield* store.take(half)
        if (first.length === 0) return { taken: 0, note: log.checkpoint }
        const [firstLeaves, second] = yield* Effect.all(
          [leavesOf(log, first), first.length < half ? Effect.succeed([]) : store.take(batchMax - half)],
          { concurrency: 2 }
        )
        const taken = [...first, ...second]
        const [secondLeaves] = yield* Effect.all([leavesOf(log, second), follow(taken)], { concurrency: 2 })
        const edge = yield* store.tiles(log.number, edgeOf(log.size))
        const { root, size, tiles } = grow(sha256, log.size, edge, [...firstLeaves, ...secondLeaves])
        const checkpoint = signedCheckpoint(sha256, noteKeyOf(log), { size, root }, signer.sign)
        const receipts = taken.map(({ receipt }) => receipt)
        yield* store.append({ log: log.number, firstIndex: log.size, receipts, tiles, size, root, checkpoint })
        return { taken: taken.length, note: checkpoint }
      })

      const sequence = Effect.gen(function* () {
        if (logOwner === "unknown") yield* settle
        if (logOwner !== "ours" || (isChecked && !(yield* store.waiting))) return 0
        const { note, taken } = yield* unitOfWork.atomically(appendBatch)
        // After the commit: a tree whose commit failed was not published, and another one may follow.
        if (note !== undefined) yield* remember(note)
        return taken
      })

      return Sequencer.of({ sequence })
    })
  )
}

/** The database lost the log of that origin, which stopped this one: its successor states it and continues. */
const isStoppedFor = ({ number, signedNote, stopped }: Log, origin: string, successor: Log): boolean =>
  stopped !== undefined &&
  signedNote !== undefined &&
  number < successor.number &&
  treeOf(signedNote)?.origin === origin

const NOTHING: { readonly taken: number; readonly note: string | undefined } = { taken: 0, note: undefined }
