/**
 * Hashes of subtrees that were worked out before: they never change, however the tree grows. Only of those that span whole
 * tiles, and of the tree's right edge; the others are in the leaf's own tile.
 */
import type { Hash, Node, Range } from "./MerkleTree.ts"

export interface KnownNodes {
  get(node: Node): Hash | undefined
  keep(node: Node, hash: Hash): void
  /** Of the tree's right edge. */
  getRange(range: Range): Hash | undefined
  keepRange(range: Range, hash: Hash): void
}

/** A leaf's own tile has all that is lower. */
const HEIGHT_MIN = 8
/** From here on there are few, each made of many tiles: those below, of which there are many, must not displace them. */
const HEIGHT_HIGH = 11
const NODES_MAX = 20_000
/** A tree of one size has no more of them than it has levels. */
const RANGES_MAX = 128

export const makeKnownNodes = (): KnownNodes => {
  const low = bounded<number>(NODES_MAX)
  const high = bounded<number>(NODES_MAX)
  const ranges = bounded<string>(RANGES_MAX)
  const ofHeight = (height: number) => (height < HEIGHT_HIGH ? low : high)
  return {
    get: (node) => ofHeight(node.height).get(keyOf(node)),
    keep: (node, hash) => {
      if (node.height >= HEIGHT_MIN) ofHeight(node.height).keep(keyOf(node), hash)
    },
    getRange: (range) => ranges.get(rangeKeyOf(range)),
    keepRange: (range, hash) => ranges.keep(rangeKeyOf(range), hash)
  }
}

/** The oldest goes first. A hash is copied: it may be a part of a whole tile. */
const bounded = <K>(entriesMax: number) => {
  const known = new Map<K, Hash>()
  return {
    get: (key: K) => known.get(key),
    keep: (key: K, hash: Hash): void => {
      if (known.has(key)) return
      if (known.size >= entriesMax) known.delete(known.keys().next().value!)
      known.set(key, Uint8Array.from(hash))
    }
  }
}

/** No tree has 2^47 leaves. */
const keyOf = ({ height, index }: Node): number => index * 64 + height

const rangeKeyOf = ({ end, start }: Range): string => `${start}-${end}`
