/**
 * The transparency log: every receipt enters an append-only Merkle tree whose root is signed. With its proof anyone can
 * verify a receipt offline. Removing or changing a receipt later, also by the operator, produces two trees that do not
 * match.
 */
import { Context, Duration, Effect, Layer, Option, Schema } from "effect"
import { type Receipt, ReceiptStore } from "../receipts/Receipts.ts"
import { Digest } from "../shared/Cryptography.ts"
import { ReceiptId } from "../shared/Ids.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"
import { monotonicNowMs } from "../shared/Time.ts"
import { type Log, LogSigner, LogStore, noteKeyOf } from "./LogStore.ts"
import {
  consistencyRanges,
  type Hash,
  inclusionRanges,
  type KnownNodes,
  leafHash,
  makeKnownNodes,
  type Range,
  sameHash
} from "./MerkleTree.ts"
import { commitmentOf, type LogProof, saltOf } from "./Commitment.ts"
import { formatKey, signedCheckpoint } from "./SignedNote.ts"
import {
  exists,
  isFull,
  parseTilePath,
  rangeHash,
  type RequestedTile,
  type Tile,
  type TilePlace,
  tilesFor
} from "./Tiles.ts"

/** No call has this receipt, so there is nothing to prove. */
export class ReceiptUnknown extends Schema.TaggedError<ReceiptUnknown>()("ReceiptUnknown", { receiptId: ReceiptId }) {
  override get message() {
    return `Receipt ${this.receiptId} does not exist.`
  }
}

/** The receipt exists and is still in the queue of the sequencer, which takes about a second. */
export class NotLoggedYet extends Schema.TaggedError<NotLoggedYet>()("NotLoggedYet", { receiptId: ReceiptId }) {
  override get message() {
    return `Receipt ${this.receiptId} is not in the log yet. Retry after 1 second.`
  }
}

/** A proof was requested for a tree that is larger than the log, or too small for the receipt. */
export class TreeSizeUnknown extends Schema.TaggedError<TreeSizeUnknown>()("TreeSizeUnknown", {
  requested: Schema.Int,
  size: Schema.Int
}) {
  override get message() {
    return `A tree of ${this.requested} leaves cannot prove this; the log has ${this.size}.`
  }
}

/** No log, tile or entry bundle has this number or path. */
export class LogUnknown extends Schema.TaggedError<LogUnknown>()("LogUnknown", { what: Schema.String }) {
  override get message() {
    return `The log has no ${this.what}.`
  }
}

/** All that a client needs to verify that a receipt is in the log, without trusting the service. */
export interface ReceiptProof extends LogProof {
  readonly receipt: Receipt
  readonly log: Log
  readonly size: number
  readonly root: Hash
  readonly commitment: Hash
  readonly leaf: Hash
  /** The log's public key, as text. */
  readonly key: string
}

const PROOF_WAIT_MS = 2_000
const PROOF_POLL_MS = 50

export class ReceiptLog extends Context.Service<
  ReceiptLog,
  {
    /** Oldest first. */
    readonly logs: Effect.Effect<ReadonlyArray<Log & { readonly key: string }>, StoreUnavailable>
    /** The signed note of a log, of the open one if no number is given. */
    checkpoint(log: number | undefined): Effect.Effect<string, LogUnknown | StoreUnavailable>
    /** Finds a tile, or an entry bundle, by its path. */
    tile(log: number | undefined, path: string): Effect.Effect<Uint8Array, LogUnknown | StoreUnavailable>
    /** Waits briefly for a receipt that was just issued. Proves it in the current tree, or in an earlier one. */
    prove(
      id: ReceiptId,
      size: number | undefined
    ): Effect.Effect<ReceiptProof, ReceiptUnknown | NotLoggedYet | TreeSizeUnknown | StoreUnavailable>
    consistency(
      log: number | undefined,
      smaller: number,
      larger: number
    ): Effect.Effect<
      { readonly origin: string; readonly hashes: ReadonlyArray<Hash> },
      LogUnknown | TreeSizeUnknown | StoreUnavailable
    >
  }
>()("agent-tool-billing/domain/log/ReceiptLog") {
  static readonly layer = Layer.effect(
    ReceiptLog,
    Effect.gen(function* () {
      const store = yield* LogStore
      const receipts = yield* ReceiptStore
      const signer = yield* LogSigner
      const { sha256 } = yield* Digest

      const nodes = new Map<number, KnownNodes>()
      const knownIn = (number: number): KnownNodes => {
        const known = nodes.get(number) ?? makeKnownNodes()
        nodes.set(number, known)
        return known
      }

      /** Signing an earlier tree again gives the published note, byte for byte. */
      const noteOf = (log: Log, size: number, root: Hash): string | undefined =>
        size === log.size
          ? log.checkpoint
          : // A stopped log signs nothing more: its tree may differ from the signed one.
            log.stopped === undefined && sameHash(log.publicKey, signer.publicKey)
            ? signedCheckpoint(sha256, noteKeyOf(log), { size, root }, signer.sign)
            : undefined

      const logOf = Effect.fnUntraced(function* (number: number | undefined) {
        const logs = yield* store.logs
        const log = number === undefined ? logs.at(-1) : logs.find((one) => one.number === number)
        return log ?? (yield* new LogUnknown({ what: number === undefined ? "checkpoint yet" : `number ${number}` }))
      })

      /** `own`: a tile that is loaded already. */
      const hashesOf = Effect.fnUntraced(function* (log: Log, ranges: ReadonlyArray<Range>, own?: Tile) {
        const known = knownIn(log.number)
        const fromCache = (place: TilePlace) =>
          own !== undefined && isAt(own, place) ? own.hashes : known.getTile(place.level, place.index)
        const missing = tilesFor(ranges, known).filter((place) => fromCache(place) === undefined)
        const read = missing.length === 0 ? [] : yield* store.tiles(log.number, missing)
        for (const tile of read) {
          if (tile.level > 0 && isFull(tile)) known.keepTile(tile.level, tile.index, tile.hashes)
        }
        const tileAt = (place: TilePlace) => read.find((tile) => isAt(tile, place))?.hashes ?? fromCache(place)
        const hashes = ranges.map((range) => rangeHash(sha256, range, tileAt, known))
        if (!hashes.every((hash) => hash !== undefined)) {
          return yield* Effect.die(new Error(`Log ${log.number} has no tiles for ${JSON.stringify(ranges)}`))
        }
        // Nodes at the right edge are in every proof of this size.
        const edge = Math.max(...ranges.map(({ end }) => end))
        for (const [at, range] of ranges.entries()) if (range.end === edge) known.keepRange(range, hashes[at]!)
        return hashes
      })

      /** The receipt with its place, waited for briefly. */
      const loggedOf = Effect.fnUntraced(function* (id: ReceiptId) {
        const logged = Option.getOrUndefined(yield* store.find(id))
        if (logged !== undefined) return logged
        if (Option.isNone(yield* receipts.find(id))) return yield* new ReceiptUnknown({ receiptId: id })
        const until = (yield* monotonicNowMs) + PROOF_WAIT_MS
        while (true) {
          const found = Option.getOrUndefined(yield* store.find(id))
          if (found !== undefined) return found
          if ((yield* monotonicNowMs) >= until) return yield* new NotLoggedYet({ receiptId: id })
          yield* Effect.sleep(Duration.millis(PROOF_POLL_MS))
        }
      })

      const prove = Effect.fn("ReceiptLog.prove")(function* (id: ReceiptId, requested: number | undefined) {
        const { index, log, receipt, tile } = yield* loggedOf(id)
        const size = requested ?? log.size
        if (size <= index || size > log.size) return yield* new TreeSizeUnknown({ requested: size, size: log.size })
        const path = yield* hashesOf(log, inclusionRanges(index, size), tile)
        const root = size === log.size ? log.root : (yield* hashesOf(log, [{ start: 0, end: size }]))[0]!
        const checkpoint = noteOf(log, size, root)
        if (checkpoint === undefined) return yield* new TreeSizeUnknown({ requested: size, size: log.size })
        const salt = saltOf(sha256, log.saltKey, id)
        const commitment = commitmentOf(sha256, salt, receipt)
        return {
          receipt,
          log,
          size,
          root,
          salt,
          index,
          path,
          checkpoint,
          commitment,
          leaf: leafHash(sha256, commitment),
          key: formatKey(sha256, noteKeyOf(log))
        }
      })

      const consistency = Effect.fn("ReceiptLog.consistency")(function* (
        number: number | undefined,
        smaller: number,
        larger: number
      ) {
        const log = yield* logOf(number)
        if (smaller > larger || larger > log.size) {
          return yield* new TreeSizeUnknown({ requested: Math.max(smaller, larger), size: log.size })
        }
        return { origin: log.origin, hashes: yield* hashesOf(log, consistencyRanges(smaller, larger)) }
      })

      const tile = Effect.fn("ReceiptLog.tile")(function* (number: number | undefined, path: string) {
        const requested = parseTilePath(path)
        if (requested === undefined) return yield* new LogUnknown({ what: "tile of that path" })
        const log = yield* logOf(number)
        if (!exists(requested, requested.width, log.size)) return yield* new LogUnknown({ what: `tile ${path}` })
        const [found] = yield* store.tiles(log.number, [requested])
        return found === undefined ? yield* new LogUnknown({ what: `tile ${path}` }) : served(requested, found.hashes)
      })

      return ReceiptLog.of({
        logs: Effect.map(store.logs, (logs) => logs.map((log) => ({ ...log, key: formatKey(sha256, noteKeyOf(log)) }))),
        checkpoint: (number) => Effect.map(logOf(number), (log) => log.checkpoint),
        tile,
        prove,
        consistency
      })
    })
  )
}

const isAt = (tile: TilePlace, { index, level }: TilePlace): boolean => tile.level === level && tile.index === index

/** Entries with their lengths in front, at most as many as requested. */
const served = ({ level, width }: RequestedTile, hashes: Uint8Array): Uint8Array => {
  const requested = hashes.subarray(0, width * 32)
  if (level >= 0) return requested
  const bundle = new Uint8Array(width * 34)
  for (let at = 0; at < width; at++) {
    bundle[at * 34 + 1] = 32
    bundle.set(requested.subarray(at * 32, at * 32 + 32), at * 34 + 2)
  }
  return bundle
}
