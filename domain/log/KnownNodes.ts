/**
 * Hashes of complete subtrees that were worked out before: they never change, however the tree grows. Only of high ones,
 * which are few and cost much; the low ones are in a single tile.
 */
import type { Hash, Node } from "./MerkleTree.ts"

export interface KnownNodes {
  get(node: Node): Hash | undefined
  keep(node: Node, hash: Hash): void
}

/** Below that a node is at most three hashes away from a tile. */
const HEIGHT_MIN = 11
const NODES_MAX = 20_000

export const makeKnownNodes = (): KnownNodes => {
  const known = new Map<number, Hash>()
  return {
    get: (node) => known.get(keyOf(node)),
    keep: (node, hash) => {
      if (node.height < HEIGHT_MIN) return
      if (known.size >= NODES_MAX) known.delete(known.keys().next().value!)
      known.set(keyOf(node), Uint8Array.from(hash))
    }
  }
}

/** No tree has 2^47 leaves. */
const keyOf = ({ height, index }: Node): number => index * 64 + height
