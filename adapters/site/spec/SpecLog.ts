/**
 * Specification of the transparency log, with a test vector.
 */
import { createHash } from "node:crypto"
import { canonicalJson, COMMITMENT_PREFIX, commitmentOf, formatProof } from "../../../domain/log/Commitment.ts"
import { type Hash, leafHash } from "../../../domain/log/MerkleTree.ts"
import { COSIGNATURE, cosignedText, ED25519 } from "../../../domain/log/SignedNote.ts"
import { ENTRIES, TILE_WIDTH, tilePath } from "../../../domain/log/Tiles.ts"
import type { Receipt } from "../../../domain/receipts/Receipt.ts"
import { ConsumerId, ProviderId, ReceiptId, ToolId } from "../../../domain/shared/Ids.ts"
import { Microcents } from "../../../domain/shared/Microcents.ts"
import { code, heading, numbered, paragraph, type SpecSection, table } from "./SpecMarkup.ts"

const sha256 = (bytes: Uint8Array): Hash => new Uint8Array(createHash("sha256").update(bytes).digest())
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex")

const SAMPLE: Receipt = {
  receipt_id: ReceiptId.make("rcpt_00000000000000000000000000000001"),
  tool_id: ToolId.make("00000000-0000-4000-8000-000000000001"),
  tool_name: "echo",
  agent_id: ConsumerId.make("00000000-0000-4000-8000-000000000002"),
  provider_id: ProviderId.make("00000000-0000-4000-8000-000000000003"),
  timestamp: "2026-01-01T00:00:00.000Z",
  duration_ms: 12,
  cost_microcents: Microcents.make(500n),
  status: "success",
  signature: "0".repeat(64),
  created_at: "2026-01-01T00:00:00.012Z"
}
const SALT = new Uint8Array(32)
const commitment = commitmentOf(sha256, SALT, SAMPLE)

export const logTestVector = {
  json: canonicalJson(SAMPLE),
  salt: hex(SALT),
  commitment: hex(commitment),
  leaf: hex(leafHash(sha256, commitment))
}

/** First line of every proof. */
const PROOF_HEADER = formatProof({ salt: new Uint8Array(0), index: 0, path: [], checkpoint: "" }).split("\n")[0]!

const ORIGIN = "billing.example.org/api/v1/market/log/1"

export const logSection = (): SpecSection => ({
  id: "log",
  title: "Transparency log",
  body: [
    paragraph(
      "Every receipt enters an append-only Merkle tree, usually within a second. The issuer signs the root of the tree. With the",
      "receipt, its proof and the log's public key, any client can verify offline that the receipt is in the log. The log",
      "contains salted commitments and does not disclose usage."
    ),
    heading("Entries and leaves"),
    paragraph(
      "An entry commits to all eleven fields of a receipt. `json` is the receipt as canonical JSON (RFC 8785) in UTF-8; the salt",
      "has 32 bytes and is part of the proof; `+` concatenates bytes:"
    ),
    code(
      `entry = SHA-256(${JSON.stringify(COMMITMENT_PREFIX)} + salt + json)\nleaf  = SHA-256(0x00 + entry)\nnode  = SHA-256(0x01 + left + right)`
    ),
    paragraph("Leaves, nodes and the shape of the tree follow RFC 6962, section 2.1."),
    table(
      "Test vector",
      ["Part", "Value"],
      [
        ["json", `\`${logTestVector.json}\``],
        ["salt (hex)", `\`${logTestVector.salt}\``],
        ["entry (hex)", `\`${logTestVector.commitment}\``],
        ["leaf (hex)", `\`${logTestVector.leaf}\``]
      ]
    ),
    heading("Checkpoint"),
    paragraph(
      "`GET /api/v1/market/log/checkpoint` returns a C2SP signed note: the origin, the size of the tree and its root in base64,",
      "one per line; an empty line; then one signature per line. The origin is the URL of the log without the scheme."
    ),
    code(
      `${ORIGIN}\n<size>\n<root, base64>\n\n— ${ORIGIN} <base64 of key id (4 bytes) + Ed25519 signature (64 bytes)>\n`
    ),
    paragraph(
      "The signature covers the text before the empty line, including its last newline. Signatures are deterministic."
    ),
    heading("Public key"),
    paragraph(
      "Verifiers need the log's key, a C2SP vkey, from a source that they trust. The key id is the first 4 bytes of the SHA-256 of",
      `name, newline, kind and key. The kind is \`0x0${ED25519}\` (Ed25519) for the log and \`0x0${COSIGNATURE}\` for witnesses.`,
      "Keys are also published in `/.well-known/jwks.json` and `/.well-known/agents.json`."
    ),
    code("<name>+<key id, 8 hex digits>+<base64 of kind (1 byte) + public key (32 bytes)>"),
    paragraph(
      "A new signing key starts a new log with the next number. Earlier logs remain at `/api/v1/market/log/<number>/…`."
    ),
    heading("Proof of a receipt"),
    paragraph(
      "`GET /api/v1/market/receipts/<id>/proof` returns a `tlog-proof`, or JSON with `Accept: application/json`. `?tree_size=`",
      "selects an earlier tree."
    ),
    code(
      `${PROOF_HEADER}\nextra <salt, base64>\nindex <index of the leaf, from 0>\n<hash, base64>   one per line, from the leaf up\n\n<checkpoint>`
    ),
    numbered([
      "Compute the entry from the receipt and the salt, and the leaf from the entry.",
      "Compute the root from the leaf, `index`, the hashes and the size of the checkpoint's tree (RFC 6962, section 2.1.1).",
      "Compare it with the checkpoint's root, and verify the checkpoint's signature.",
      "Compare the checkpoint's origin with the name of the key."
    ]),
    heading("Tiles"),
    paragraph(
      `The tree is served as C2SP tlog-tiles of ${TILE_WIDTH} hashes, 32 bytes each, at \`/api/v1/market/log/tile/\` and`,
      "`/api/v1/market/log/<number>/tile/`. A full tile is one hash of the level above. Tiles never change."
    ),
    table(
      "Tile paths",
      ["Path", "Content"],
      [
        [`\`${tilePath({ level: 0, index: 1_234_067, width: TILE_WIDTH })}\``, "256 leaves from leaf 1,234,067 × 256"],
        [`\`${tilePath({ level: 1, index: 0, width: 17 })}\``, "The first 17 hashes of a partial tile"],
        [
          `\`${tilePath({ level: ENTRIES, index: 0, width: TILE_WIDTH })}\``,
          "Entries, each with its length (2 bytes, big-endian; always 32)"
        ]
      ]
    ),
    heading("Consistency and witnesses"),
    paragraph(
      "`GET /api/v1/market/log/consistency` returns the RFC 6962 proof that one tree extends another. A witness verifies this proof",
      "and signs the checkpoint with a timestamp:"
    ),
    code(`${cosignedText("<checkpoint text>", 1_767_225_600)}`)
  ]
})
