/**
 * Adds receipts to the log in batches. Any number of nodes may run it: the log's lock admits one at a time. Signing
 * comes before the commit, and a note is published only after its tree is committed, so a crash leaves neither a gap
 * nor a second tree of the same size. A tree that does not extend the last tree that this node knows as signed stops
 * the log: the database lost a part of it.
 */
import { Context, Duration, Effect, Layer, Option } from "effect"
import { CallTally } from "../metering/CallsInFlight.ts"
import { Digest, Entropy } from "../shared/Cryptography.ts"
import { giveUpAfter } from "../shared/Deadlines.ts"
import { type StoreUnavailable, UnitOfWork } from "../shared/StoreUnavailable.ts"
import { type Log, LogSigner, LogStore, type NewLog, noteKeyOf, type SequencedReceipt } from "./LogStore.ts"
import {
  consistencyRanges,
  emptyRoot,
  type Hash,
  leafHash,
  rootsOfConsistency,
  sameHash,
  type Sha256
} from "./MerkleTree.ts"
import { commitmentOf, saltOf } from "./Commitment.ts"
import { bytesOf, formatNote, parseCheckpoint, parseNote, signatureLine, signedCheckpoint } from "./SignedNote.ts"
import { edgeOf, grow, rangeHash, type Tile, type TilePlace, tilesFor } from "./Tiles.ts"

// Creates an empty log with its own name and secret, signed.

const SALT_KEY_BYTES = 32

interface Means {
  readonly sha256: Sha256
  readonly entropy: Entropy["Service"]
  readonly signer: LogSigner["Service"]
  /** The logs are served here; followed by its number it is a log's origin. */
  readonly home: string
}

/** `statement`: the signed text about the previous log. */
export const newLog = Effect.fnUntraced(function* (
  { entropy, home, sha256, signer }: Means,
  number: number,
  statement?: (origin: string) => string
): Effect.fn.Return<NewLog> {
  const log = { origin: `${home}/${number}`, publicKey: signer.publicKey }
  const root = emptyRoot(sha256)
  const key = noteKeyOf(log)
  const text = statement?.(log.origin)
  return {
    ...log,
    number,
    saltKey: fromHex(yield* entropy.hex(SALT_KEY_BYTES)),
    root,
    checkpoint: signedCheckpoint(sha256, key, { size: 0, root }, signer.sign),
    statement:
      text === undefined ? undefined : formatNote(text, [signatureLine(sha256, key, signer.sign(bytesOf(text)))])
  }
})

const fromHex = (text: string): Uint8Array => Uint8Array.from(text.match(/../gu)!, (byte) => Number.parseInt(byte, 16))

// The last tree that this node signed or saw signed, and whether a log's tree extends it. It is stored outside of the
// database, because a database that lost data does not know it.

/**
 * Stores the signed note beyond the process. Without it the note is remembered until the process ends. Default: none.
 */
export const SignedTreeFile = Context.Reference<{
  readonly read: Effect.Effect<string | undefined>
  readonly write: (note: string) => Effect.Effect<void>
}>("agent-tool-billing/domain/log/SignedTreeFile", {
  defaultValue: () => ({ read: Effect.undefined, write: () => Effect.void })
})

export const treeOf = (note: string) => {
  const text = parseNote(note)?.text
  return text === undefined ? undefined : parseCheckpoint(text)
}

type ReadTiles = (log: number, places: ReadonlyArray<TilePlace>) => Effect.Effect<ReadonlyArray<Tile>, StoreUnavailable>

/** Returns why `log` must not continue, given the signed `note`; undefined if its tree extends that tree. */
export const contradiction = Effect.fnUntraced(function* (
  sha256: Sha256,
  note: string,
  log: Pick<Log, "number" | "origin" | "size" | "root">,
  tiles: ReadTiles
) {
  const signed = treeOf(note)
  if (signed === undefined) return "the last signed note cannot be read"
  if (log.size < signed.size) {
    return `the database has ${log.size} of its receipts, but a tree of ${signed.size} receipts was signed`
  }
  const other = `its tree does not extend the signed tree of ${signed.size} receipts`
  if (log.size === signed.size) return sameHash(log.root, signed.root) ? undefined : other
  if (signed.size === 0) return undefined
  const ranges = consistencyRanges(signed.size, log.size)
  const kept = yield* tiles(log.number, tilesFor(ranges))
  const hashes = ranges.map((range) =>
    rangeHash(
      sha256,
      range,
      ({ index, level }) => kept.find((tile) => tile.level === level && tile.index === index)?.hashes
    )
  )
  const roots = hashes.every((hash) => hash !== undefined)
    ? rootsOfConsistency(sha256, signed.size, log.size, signed.root, hashes)
    : undefined
  return roots !== undefined && sameHash(roots.smaller, signed.root) && sameHash(roots.larger, log.root)
    ? undefined
    : other
})

/** The logs are served here, without scheme and trailing slash; followed by its number it is a log's origin. */
export class LogHome extends Context.Service<LogHome, string>()("agent-tool-billing/domain/log/LogHome") {}

/** Receipts per unit of work, or a few more. Four times 2,048 is a third faster; larger batches delay others. */
export const SEQUENCER_BATCH_MAX = 8_192
/** Hashed at once: a few milliseconds, so that calls are not delayed. */
const HASHED_AT_ONCE = 256

export interface SequencerOptions {
  /** Default: `SEQUENCER_BATCH_MAX`. */
  readonly batchMax?: number
  /** Receives every receipt once, in the unit of work that sequences it. Default: none does. */
  readonly follow?: (batch: ReadonlyArray<SequencedReceipt>) => Effect.Effect<void, StoreUnavailable>
}

export const makeSequencer = Effect.fnUntraced(function* ({
  batchMax = SEQUENCER_BATCH_MAX,
  follow = () => Effect.void
}: SequencerOptions = {}) {
  const store = yield* LogStore
  const signer = yield* LogSigner
  const unitOfWork = yield* UnitOfWork
  const entropy = yield* Entropy
  const home = yield* LogHome
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
    // A tree whose commit failed was not published, and another one may follow.
    if (note !== undefined) yield* remember(note)
    return taken
  })

  return { sequence }
})

export class Sequencer extends Context.Service<
  Sequencer,
  {
    /** Takes one batch of queued receipts and returns its size. */
    readonly sequence: Effect.Effect<number, StoreUnavailable>
  }
>()("agent-tool-billing/domain/log/Sequencer") {
  static readonly layer = Layer.effect(Sequencer, makeSequencer())
}

/** The database lost the log of that origin, which stopped this one: its successor states it and continues. */
const isStoppedFor = ({ number, signedNote, stopped }: Log, origin: string, successor: Log): boolean =>
  stopped !== undefined &&
  signedNote !== undefined &&
  number < successor.number &&
  treeOf(signedNote)?.origin === origin

const NOTHING: { readonly taken: number; readonly note: string | undefined } = { taken: 0, note: undefined }

// The sequencer of a node without calls may pause. A node closes its calls itself, so such a node has nothing to add
// but what other nodes left: those that died, or that skipped the log while this node had its lock.

const REST_MAX = Duration.seconds(5)
/** Receipts wait, and another node may be adding them. */
const REST_MAX_WAITING = Duration.seconds(1)
/** A connection may have gone silent: the next round detects it. */
const WAITING_LIMIT = Duration.seconds(5)

/** Ends at the next call of this node, immediately if there was one since the last rest. */
export const logRest = Effect.gen(function* () {
  const tally = yield* CallTally
  const store = yield* LogStore
  let seen = tally.total
  const rest = Effect.gen(function* () {
    if (tally.total === seen) {
      const waiting = yield* store.waiting.pipe(
        giveUpAfter(WAITING_LIMIT),
        Effect.catchCause(() => Effect.succeed(true))
      )
      const call = Effect.suspend(() => (tally.total === seen ? tally.next : Effect.void))
      yield* Effect.timeoutOption(call, waiting ? REST_MAX_WAITING : REST_MAX)
    }
    seen = tally.total
  })
  return { rest }
})
