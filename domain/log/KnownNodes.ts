/**
 * What was read or worked out of a tree before and never changes, however the tree grows: full tiles above the leaves', of
 * which a few hundred are those of millions of leaves; nodes that span whole tiles; the tree's right edge.
 */
import type { Hash, Node, Range } from "./MerkleTree.ts"

export interface KnownNodes {
  get(node: Node): Hash | undefined
  keep(node: Node, hash: Hash): void
  /** Of the tree's right edge. */
  getRange(range: Range): Hash | undefined
  keepRange(range: Range, hash: Hash): void
  getTile(level: number, index: number): Uint8Array | undefined
  /** A full one, and not of leaves. */
  keepTile(level: number, index: number, hashes: Uint8Array): void
}

/** A leaf's own tile has all that is lower. */
const HEIGHT_MIN = 8
/** From here on there are few, each made of many hashes: those below, of which there are many, must not displace them. */
const HEIGHT_HIGH = 11
const NODES_MAX = 20_000
/** 8 KiB each. */
const TILES_MAX = 512
/** A tree of one size has no more of them than it has levels. */
const RANGES_MAX = 128

export const makeKnownNodes = (): KnownNodes => {
  const low = bounded<number>(NODES_MAX)
  const high = bounded<number>(NODES_MAX)
  const ofHeight = (height: number) => (height < HEIGHT_HIGH ? low : high)
  const ranges = bounded<string>(RANGES_MAX)
  const tiles = bounded<string>(TILES_MAX)
  return {
    get: (node) => ofHeight(node.height).get(keyOf(node)),
    keep: (node, hash) => {
      if (node.height >= HEIGHT_MIN) ofHeight(node.height).keep(keyOf(node), hash)
    },
    getRange: (range) => ranges.get(`${range.start}-${range.end}`),
    keepRange: (range, hash) => ranges.keep(`${range.start}-${range.end}`, hash),
    getTile: (level, index) => tiles.get(`${level}/${index}`),
    keepTile: (level, index, hashes) => tiles.keep(`${level}/${index}`, hashes)
  }
}

/** The oldest goes first. Bytes are copied: they may be a part of something larger. */
const bounded = <K>(entriesMax: number) => {
  const known = new Map<K, Uint8Array>()
  return {
    get: (key: K) => known.get(key),
    keep: (key: K, bytes: Uint8Array): void => {
      if (known.has(key)) return
      if (known.size >= entriesMax) known.delete(known.keys().next().value!)
      known.set(key, Uint8Array.from(bytes))
    }
  }
}

/** No tree has 2^47 leaves. */
const keyOf = ({ height, index }: Node): number => index * 64 + height
