/**
 * The commitment to a receipt in the log: a hash over all eleven fields and a secret salt. With the receipt and the
 * salt anyone can verify it; without them the hash reveals nothing, even by trying likely receipts.
 */
import type { Receipt } from "../receipts/Receipts.ts"
import type { Hash, Sha256 } from "./MerkleTree.ts"
import { bytesOf, concat, toBase64 } from "./SignedNote.ts"

export const COMMITMENT_PREFIX = "agent-tool-billing/receipt/v1\n"

/** JSON of RFC 8785: sorted names, no spaces, full integers. */
export const canonicalJson = (receipt: Receipt): string =>
  JSON.stringify({
    agent_id: receipt.agent_id,
    cost_microcents: Number(receipt.cost_microcents),
    created_at: receipt.created_at,
    duration_ms: receipt.duration_ms,
    provider_id: receipt.provider_id,
    receipt_id: receipt.receipt_id,
    signature: receipt.signature,
    status: receipt.status,
    timestamp: receipt.timestamp,
    tool_id: receipt.tool_id,
    tool_name: receipt.tool_name
  })

const PREFIX = bytesOf(COMMITMENT_PREFIX)
const utf8 = new TextEncoder()
/** One buffer that every receipt reuses: nothing is asynchronous between filling and hashing. */
const buffer = new Uint8Array(4_096)

/**
 * One salt per receipt, derived from the log's secret, so it is not stored. Ids have a fixed length, so inputs are
 * distinct.
 */
export const saltOf = (sha256: Sha256, saltKey: Uint8Array, receiptId: string): Uint8Array => {
  buffer.set(saltKey)
  return sha256(
    buffer.subarray(0, saltKey.length + utf8.encodeInto(receiptId, buffer.subarray(saltKey.length)).written)
  )
}

export const commitmentOf = (sha256: Sha256, salt: Uint8Array, receipt: Receipt): Hash => {
  const json = canonicalJson(receipt)
  const start = PREFIX.length + salt.length
  // Each UTF-16 unit takes at most three bytes of UTF-8.
  if (start + json.length * 3 > buffer.length) return sha256(concat(PREFIX, salt, bytesOf(json)))
  buffer.set(PREFIX)
  buffer.set(salt, PREFIX.length)
  return sha256(buffer.subarray(0, start + utf8.encodeInto(json, buffer.subarray(start)).written))
}

/**
 * The proof of a receipt as a file (C2SP tlog-proof): the salt of its commitment, its index, the path, the checkpoint.
 */
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
