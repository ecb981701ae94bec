/**
 * Merkle inclusion proofs (C2SP tlog-proof, RFC 9162).
 */
import { type Bytes, fromBase64, sha256 } from "./Bytes.browser.ts"

export interface InclusionProof {
  readonly salt: Bytes
  readonly index: number
  readonly path: ReadonlyArray<Bytes>
  readonly checkpoint: string
}

export const parseProof = (text: string): InclusionProof | undefined => {
  const at = text.indexOf("\n\n")
  const [header, extra, index, ...lines] = text.slice(0, at).split("\n")
  const salt = extra?.startsWith("extra ") ? fromBase64(extra.slice(6)) : undefined
  const path = lines.map(fromBase64)
  if (at === -1 || header !== "c2sp.org/tlog-proof@v1" || salt?.length !== 32) return undefined
  if (!/^index (?:0|[1-9]\d{0,15})$/u.test(index ?? "")) return undefined
  if (path.length > 63 || !path.every((hash) => hash?.length === 32)) return undefined
  return { salt, index: Number(index!.slice(6)), path: path as Array<Bytes>, checkpoint: text.slice(at + 2) }
}

/** The root of a tree of this size, from an entry and its proof (RFC 9162, section 2.1.3.2). */
export const rootOf = async (
  entry: Bytes,
  { index, path }: InclusionProof,
  size: number
): Promise<Bytes | undefined> => {
  if (index >= size) return undefined
  let at = index
  let last = size - 1
  let root = await sha256(Uint8Array.of(0), entry)
  for (const hash of path) {
    if (last === 0) return undefined
    if (at % 2 === 1 || at === last) {
      root = await sha256(Uint8Array.of(1), hash, root)
      while (at % 2 === 0 && at !== 0) {
        at /= 2
        last = Math.floor(last / 2)
      }
    } else root = await sha256(Uint8Array.of(1), root, hash)
    at = Math.floor(at / 2)
    last = Math.floor(last / 2)
  }
  return last === 0 ? root : undefined
}
