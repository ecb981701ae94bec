/**
 * Caches what never changes when the tree grows: full tiles above the leaves' level (a few hundred cover millions of
 * leaves), nodes that span whole tiles, and the right edge of the tree.
 */
import type { Hash, Node, Range } from "./MerkleTree.ts"

export interface KnownNodes {
  get(node: Node): Hash | undefined
  keep(node: Node, hash: Hash): void
  /** Of the tree's right edge. */
  getRange(range: Range): Hash | undefined
  keepRange(range: Range, hash: Hash): void
  getTile(level: number, index: number): Uint8Array | undefined
  /** A full tile above the leaves' level. */
  keepTile(level: number, index: number, hashes: Uint8Array): void
}

/** The leaf's own tile contains all lower nodes. */
const HEIGHT_MIN = 8
/** From this height on nodes are few and each takes many hashes to compute: lower ones must not displace them. */
const HEIGHT_HIGH = 11
const NODES_MAX = 20_000
/** 8 KiB each. */
const TILES_MAX = 512
/** At most one per level for one tree size. */
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

/** The oldest is removed first. Bytes are copied, because they may be part of a larger buffer. */
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
