/**
 * The last tree that this node signed or saw signed, and whether a log's tree extends it. It is stored outside of the
 * database, because a database that lost data does not know it.
 */
import { Context, Effect } from "effect"
import type { Log } from "./LogStore.ts"
import { rootsOfConsistency, sameHash } from "./MerkleProof.ts"
import { consistencyRanges, type Sha256 } from "./MerkleTree.ts"
import { parseCheckpoint, parseNote } from "./SignedNote.ts"
import { rangeHash, type Tile, tilesFor, type TilePlace } from "./Tiles.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"

/** Stores the signed note beyond the process. Without it the note is remembered until the process ends. */
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

/** Why `log` must not continue, given the signed `note`; undefined if its tree extends that tree. */
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
