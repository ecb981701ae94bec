/**
 * The specification of the transparency log, with a vector to try an implementation on.
 */
import { createHash } from "node:crypto"
import { canonicalJson, COMMITMENT_PREFIX, commitmentOf } from "../../../domain/log/Commitment.ts"
import { formatProof } from "../../../domain/log/LogProof.ts"
import { type Hash, leafHash } from "../../../domain/log/MerkleTree.ts"
import { COSIGNATURE, cosignedText, ED25519 } from "../../../domain/log/SignedNote.ts"
import { tilePath } from "../../../domain/log/TilePath.ts"
import { ENTRIES, TILE_WIDTH } from "../../../domain/log/Tiles.ts"
import type { Receipt } from "../../../domain/receipts/Receipt.ts"
import { ConsumerId, ProviderId, ReceiptId, ToolId } from "../../../domain/shared/Ids.ts"
import { Microcents } from "../../../domain/shared/Microcents.ts"
import { heading, listing, points, said, type SpecPart, text } from "./SpecParts.ts"

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

/** What an implementation should come to. */
export const logVector = {
  json: canonicalJson(SAMPLE),
  salt: hex(SALT),
  commitment: hex(commitment),
  leaf: hex(leafHash(sha256, commitment))
}

const WORDS = { salt: new Uint8Array(0), index: 0, path: [], checkpoint: "" }
/** The line that proofs begin with. */
const PROOF_HEADER = formatProof(WORDS).split("\n")[0]!

const ORIGIN = "billing.example.org/api/v1/market/log/1"

export const logPart = (): SpecPart => ({
  id: "log",
  title: "Transparency log",
  body: [
    said(
      "Every receipt enters an append-only Merkle tree, usually within a second. The issuer signs the tree's root; with the",
      "receipt, its proof and the log's public key anybody can check offline that the receipt is in it. The log holds salted",
      "commitments, so it shows nobody's usage."
    ),
    heading("Entry and leaf"),
    said(
      "An entry is the commitment to all eleven fields of a receipt. Its parts are put one after the other as bytes; `json` is",
      "the receipt as JSON of RFC 8785 (names sorted, no spaces, integers in full) in UTF-8; the salt has 32 bytes and is part",
      "of the proof:"
    ),
    text(
      `entry = SHA-256(${JSON.stringify(COMMITMENT_PREFIX)} + salt + json)\nleaf  = SHA-256(0x00 + entry)\nnode  = SHA-256(0x01 + left + right)`
    ),
    said("Leaves, nodes and the shape of the tree are those of RFC 6962, section 2.1. A vector:"),
    listing(
      "A vector to try",
      ["Part", "Value"],
      [
        ["json", `\`${logVector.json}\``],
        ["salt (hex)", `\`${logVector.salt}\``],
        ["entry (hex)", `\`${logVector.commitment}\``],
        ["leaf (hex)", `\`${logVector.leaf}\``]
      ]
    ),
    heading("Checkpoint"),
    said(
      "`GET /api/v1/market/log/checkpoint` is a C2SP signed note: the origin, the tree's size, its root in base64, each on a",
      "line of its own; an empty line; then one line a signature. The origin is where the log is served, without the scheme."
    ),
    text(
      `${ORIGIN}\n<size>\n<root, base64>\n\n— ${ORIGIN} <base64 of key id (4 bytes) + Ed25519 signature (64 bytes)>\n`
    ),
    said(
      "What is signed is the text before the empty line, with its last newline. The same tree and key always give the same note."
    ),
    heading("The log's public key"),
    said(
      "A verifier is given the key once, as a C2SP vkey, by a way that it trusts. The key id is the first 4 bytes of the",
      `SHA-256 over name, newline, kind and key; the kind of the log is \`0x0${ED25519}\` (Ed25519), that of a witness`,
      `\`0x0${COSIGNATURE}\`. Keys also stand in \`/.well-known/jwks.json\` and in \`/.well-known/agents.json\`.`
    ),
    text("<name>+<key id, 8 hex digits>+<base64 of kind (1 byte) + public key (32 bytes)>"),
    said(
      "A new signing key begins a new log with the next number; earlier logs stay readable at `/api/v1/market/log/<number>/…`."
    ),
    heading("Proof of a receipt"),
    said(
      "`GET /api/v1/market/receipts/<id>/proof` answers with a `tlog-proof`; whoever accepts `application/json` gets the same as JSON.",
      "`?tree_size=` proves it in the tree as it was then."
    ),
    text(
      `${PROOF_HEADER}\nextra <salt, base64>\nindex <place in the tree, from 0>\n<hash, base64>   one line each, from the leaf up\n\n<checkpoint>`
    ),
    points(
      "Compute the entry from the receipt and the salt, and from it the leaf.",
      "Follow the hashes from the leaf at `index` to the root of a tree of the checkpoint's size (RFC 6962, 2.1.1).",
      "Compare that root with the checkpoint's, and verify the checkpoint's signature with the key that you were given.",
      "The checkpoint's origin must be the name of that key."
    ),
    heading("Tiles"),
    said(
      `The tree is served as C2SP tlog-tiles of ${TILE_WIDTH} hashes, 32 bytes each, below \`/api/v1/market/log/tile/\` and`,
      "`/api/v1/market/log/<number>/tile/`. Every full tile is one hash of the level above. What was served once never changes."
    ),
    listing(
      "Addresses of tiles",
      ["Path", "What it is"],
      [
        [
          `\`${tilePath({ level: 0, index: 1_234_067, width: TILE_WIDTH })}\``,
          "The leaves 1,234,067 × 256 and following"
        ],
        [`\`${tilePath({ level: 1, index: 0, width: 17 })}\``, "The first 17 hashes of a tile that is not full yet"],
        [
          `\`${tilePath({ level: ENTRIES, index: 0, width: TILE_WIDTH })}\``,
          "The entries themselves, each with its length in front (2 bytes, big-endian; always 32)"
        ]
      ]
    ),
    heading("Growth, and witnesses"),
    said(
      "`GET /api/v1/market/log/consistency` answers the RFC 6962 proof that one tree grew out of another. A witness follows the log,",
      "checks that, and signs what it saw, with its own time in front of the checkpoint:"
    ),
    text(`${cosignedText("<the checkpoint's text>", 1_767_225_600)}`)
  ]
})
