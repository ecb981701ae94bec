/**
 * Checks the stored log: every tile against the entries, every root and signature, and every receipt against its leaf.
 * Reads everything, in bounded pieces, and reports the first finding of each kind.
 */
import { Context, Effect, Layer } from "effect"
import { Receipts, type SignerUnavailable } from "../receipts/Receipts.ts"
import { Digest } from "../shared/Cryptography.ts"
import type { ReceiptId } from "../shared/Ids.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"
import { type Log, LogSigner, LogStore, noteKeyOf } from "./LogStore.ts"
import { emptyRoot, leafHash, sameHash } from "./MerkleTree.ts"
import { commitmentOf, saltOf } from "./Commitment.ts"
import { bytesOf, keyIdOf, parseCheckpoint, parseNote } from "./SignedNote.ts"
import { edgeOf, ENTRIES, grow, split, type Tile, TILE_WIDTH, tilePath, type TilePlace } from "./Tiles.ts"

/** The checks, and what does not match. */
export interface LogFindings {
  readonly logs: number
  readonly receipts: number
  /** Receipts that are not in the log yet, usually those of the last second. */
  readonly waiting: number
  /** Empty if everything matches. */
  readonly findings: ReadonlyArray<string>
}

const BUNDLES_AT_ONCE = 64
const RECEIPTS_AT_ONCE = 2_000

export class LogCheck extends Context.Service<
  LogCheck,
  { readonly check: Effect.Effect<LogFindings, SignerUnavailable | StoreUnavailable> }
>()("agent-tool-billing/domain/log/LogCheck") {
  static readonly layer = Layer.effect(
    LogCheck,
    Effect.gen(function* () {
      const store = yield* LogStore
      const logSigner = yield* LogSigner
      const { verify } = yield* Receipts
      const { sha256 } = yield* Digest

      const noteFault = (log: Log): string | undefined => {
        const note = parseNote(log.checkpoint)
        const tree = note === undefined ? undefined : parseCheckpoint(note.text)
        if (note === undefined || tree === undefined) return "its checkpoint cannot be read"
        if (tree.origin !== log.origin || tree.size !== log.size || !sameHash(tree.root, log.root)) {
          return "its checkpoint belongs to another tree"
        }
        const keyId = keyIdOf(sha256, noteKeyOf(log))
        const signed = note.signatures.some(
          (one) =>
            one.name === log.origin &&
            one.keyId === keyId &&
            logSigner.verify(log.publicKey, bytesOf(note.text), one.signature)
        )
        return signed ? undefined : "its checkpoint is not signed by its key"
      }

      /** Rebuilds the tree from its entries and compares each tile with the stored one. */
      const treeFault = Effect.fnUntraced(function* (log: Log) {
        let size = 0
        let root = emptyRoot(sha256)
        let edge: ReadonlyArray<Tile> = []
        while (size < log.size) {
          const first = Math.floor(size / TILE_WIDTH)
          const last = Math.min(first + BUNDLES_AT_ONCE, Math.ceil(log.size / TILE_WIDTH))
          const places = Array.from({ length: last - first }, (_, at) => ({ level: ENTRIES, index: first + at }))
          const bundles = yield* kept(log, places)
          const added = []
          for (const place of places) {
            const bundle = bundles.get(keyOf(place))
            const width = Math.min(TILE_WIDTH, log.size - place.index * TILE_WIDTH)
            if (bundle?.length !== width * 32) return `the entries of ${pathOf(place)} are incomplete`
            for (const entry of split(bundle)) added.push({ entry, leaf: leafHash(sha256, entry) })
          }
          const grown = grow(sha256, size, edge, added)
          const tiles = yield* kept(log, grown.tiles)
          for (const tile of grown.tiles) {
            // A growing tile is compared when it has this length.
            const found = tiles.get(keyOf(tile))?.subarray(0, tile.hashes.length)
            if (found === undefined || !sameHash(found, tile.hashes)) return `the tile ${pathOf(tile)} is another one`
          }
          size = grown.size
          root = grown.root
          const open = new Set(edgeOf(size).map(keyOf))
          edge = [...edge, ...grown.tiles].filter((tile, at, all) => {
            const newest = all.findLastIndex((one) => keyOf(one) === keyOf(tile)) === at
            return newest && open.has(keyOf(tile))
          })
        }
        return sameHash(root, log.root) ? undefined : "its root does not match its entries"
      })

      const kept = Effect.fnUntraced(function* (log: Log, places: ReadonlyArray<TilePlace>) {
        const tiles = yield* store.tiles(log.number, places)
        return new Map(tiles.map((tile) => [keyOf(tile), tile.hashes]))
      })

      /** Checks every receipt against its leaf; every leaf has one. */
      const receiptFaults = Effect.fnUntraced(function* (logs: ReadonlyArray<Log>) {
        const taken = new Map(logs.map((log) => [log.number, new Uint8Array(Math.ceil(log.size / 8))]))
        const findings: Array<string> = []
        let after: ReceiptId | undefined
        let receipts = 0
        let waiting = 0
        while (findings.length === 0) {
          const page = yield* store.scan(after, RECEIPTS_AT_ONCE)
          if (page.length === 0) break
          after = page.at(-1)!.receipt.receipt_id
          receipts += page.length
          for (const log of logs) {
            const here = page.filter(({ place }) => place?.log === log.number)
            const bundles = yield* kept(log, [
              ...new Map(
                here.map(({ place }) => {
                  const bundle = { level: ENTRIES, index: Math.floor(place!.index / TILE_WIDTH) }
                  return [keyOf(bundle), bundle]
                })
              ).values()
            ])
            const marks = taken.get(log.number)!
            for (const { place, receipt } of here) {
              const { index } = place!
              // Receipts appended since the log was read are left to the next check.
              if (index >= log.size) continue
              const bundle = bundles.get(keyOf({ level: ENTRIES, index: Math.floor(index / TILE_WIDTH) }))
              const at = (index % TILE_WIDTH) * 32
              const salt = saltOf(sha256, log.saltKey, receipt.receipt_id)
              const commitment = commitmentOf(sha256, salt, receipt)
              if (bundle === undefined || !sameHash(bundle.subarray(at, at + 32), commitment)) {
                findings.push(`${receipt.receipt_id} does not match leaf ${index} of log ${log.number}.`)
              } else if ((marks[index >> 3]! & (1 << (index & 7))) !== 0) {
                findings.push(`Leaf ${index} of log ${log.number} belongs to two receipts.`)
              }
              marks[index >> 3]! |= 1 << (index & 7)
              if (findings.length > 0) return { receipts, waiting, findings }
            }
          }
          for (const { place, receipt } of page) {
            if (place === undefined) waiting++
            if (!(yield* verify(receipt)).valid) {
              findings.push(`${receipt.receipt_id} does not verify with any signing secret.`)
              return { receipts, waiting, findings }
            }
          }
        }
        for (const log of logs) {
          const marks = taken.get(log.number)!
          for (let index = 0; index < log.size; index++) {
            if ((marks[index >> 3]! & (1 << (index & 7))) !== 0) continue
            findings.push(`Leaf ${index} of log ${log.number} belongs to no receipt.`)
            break
          }
        }
        return { receipts, waiting, findings }
      })

      const check = Effect.gen(function* () {
        const logs = yield* store.logs
        const findings: Array<string> = []
        for (const log of logs) {
          const fault = noteFault(log) ?? (yield* treeFault(log))
          if (fault !== undefined) findings.push(`Log ${log.number}: ${fault}.`)
        }
        const found = yield* receiptFaults(logs)
        return { logs: logs.length, ...found, findings: [...findings, ...found.findings] }
      })

      return LogCheck.of({ check })
    })
  )
}

const keyOf = ({ index, level }: TilePlace): string => `${level}/${index}`

const pathOf = ({ index, level }: TilePlace): string => tilePath({ level, index, width: TILE_WIDTH })
