/**
 * The proof of a receipt as a file (C2SP tlog-proof): the salt of its commitment, its index, the path, the checkpoint.
 */
import { toBase64 } from "./Base64.ts"
import type { Hash } from "./MerkleTree.ts"

export interface LogProof {
  readonly salt: Uint8Array
  readonly index: number
  readonly path: ReadonlyArray<Hash>
  /** The signed note, verbatim. */
  readonly checkpoint: string
}

export const formatProof = ({ checkpoint, index, path, salt }: LogProof): string =>
  ["c2sp.org/tlog-proof@v1", `extra ${toBase64(salt)}`, `index ${index}`, ...path.map(toBase64), "", checkpoint].join(
    "\n"
  )
