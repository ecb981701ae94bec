/**
 * Verifies consistency proofs as specified in RFC 9162 (2.1.4.2).
 */
import { type Hash, nodeHash, type Sha256 } from "./MerkleTree.ts"

/** The roots of both trees according to the proof; undefined if it has the wrong length. */
export const rootsOfConsistency = (
  sha256: Sha256,
  smaller: number,
  larger: number,
  smallerRoot: Hash,
  proof: ReadonlyArray<Hash>
): { readonly smaller: Hash; readonly larger: Hash } | undefined => {
  if (smaller <= 0 || smaller > larger) return undefined
  if (smaller === larger) return proof.length === 0 ? { smaller: smallerRoot, larger: smallerRoot } : undefined
  const path = Number.isInteger(Math.log2(smaller)) ? [smallerRoot, ...proof] : [...proof]
  const first = path.shift()
  if (first === undefined) return undefined
  let at = smaller - 1
  let last = larger - 1
  while (at % 2 === 1) {
    at = Math.floor(at / 2)
    last = Math.floor(last / 2)
  }
  let [before, after] = [first, first]
  for (const hash of path) {
    if (last === 0) return undefined
    if (at % 2 === 1 || at === last) {
      before = nodeHash(sha256, hash, before)
      after = nodeHash(sha256, hash, after)
      while (at % 2 === 0 && at !== 0) {
        at /= 2
        last = Math.floor(last / 2)
      }
    } else {
      after = nodeHash(sha256, after, hash)
    }
    at = Math.floor(at / 2)
    last = Math.floor(last / 2)
  }
  return last === 0 ? { smaller: before, larger: after } : undefined
}

/** Not in constant time: hashes of a public log are not secret. */
export const sameHash = (one: Hash, other: Hash): boolean =>
  one.length === other.length && one.every((byte, at) => byte === other[at])
