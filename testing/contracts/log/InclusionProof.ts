/**
 * Verifies inclusion proofs as specified in RFC 9162 (2.1.3.2), as a client does.
 */
import { type Hash, nodeHash, type Sha256 } from "../../../domain/log/MerkleTree.ts"

/** The root that a leaf and its path lead to; undefined if the path has the wrong length. */
export const rootOfInclusion = (
  sha256: Sha256,
  leaf: Hash,
  index: number,
  size: number,
  path: ReadonlyArray<Hash>
): Hash | undefined => {
  if (index < 0 || index >= size) return undefined
  let at = index
  let last = size - 1
  let root = leaf
  for (const hash of path) {
    if (last === 0) return undefined
    if (at % 2 === 1 || at === last) {
      root = nodeHash(sha256, hash, root)
      while (at % 2 === 0 && at !== 0) {
        at /= 2
        last = Math.floor(last / 2)
      }
    } else {
      root = nodeHash(sha256, root, hash)
    }
    at = Math.floor(at / 2)
    last = Math.floor(last / 2)
  }
  return last === 0 ? root : undefined
}
