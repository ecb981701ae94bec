/**
 * What the log holds of a receipt: a hash over all eleven fields and a secret salt. Whoever has the receipt and the
 * salt can see that it is this one; whoever has neither learns nothing, not even by trying likely receipts.
 */
import type { Receipt } from "../receipts/Receipt.ts"
import type { Hash, Sha256 } from "./MerkleTree.ts"
import { bytesOf, concat } from "./SignedNote.ts"

export const COMMITMENT_PREFIX = "agent-tool-billing/receipt/v1\n"

/** JSON of RFC 8785: the names sorted, no spaces, integers in full. */
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
/** Laid out in one buffer that every receipt reuses: nothing waits between filling and hashing. */
const buffer = new Uint8Array(4_096)

/** One salt a receipt, from the log's own key: nothing more has to be kept. Ids have one length, so no two meet. */
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
