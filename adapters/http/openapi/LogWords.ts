/**
 * Words of the transparency log.
 */
import { RECEIPT_ID } from "./SharedWords.ts"
import type { Words } from "./Vocabulary.ts"

const ORIGIN = "billing.example.org/api/v1/market/log/1"
const HASH = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
const KEY = "6kV0bIlOhgXb1CmCFP0UpC6FvAsHyKSr5sEyvkPPFQY="
const VKEY = `${ORIGIN}+1c2d3e4f+AepFdGyJToYF29QpghT9FKQuhbwLB8ikq+bBMr5DzxUG`
const CHECKPOINT = `${ORIGIN}\n1204\n${HASH}\n\n— ${ORIGIN} HC0+Tw…\n`

export const logWords: Words = {
  "log.proof.id": ["The receipt's id.", RECEIPT_ID],
  "log.proof.tree_size": [
    "Prove it in the tree as it was with so many leaves, for instance one that a witness signed."
  ],
  "ReceiptProof.": ["A receipt, its place in the log, and the hashes that lead from it to the signed root."],
  "ReceiptProof.log": ["The number of the log.", 1],
  origin: ["The log's name, which its checkpoints begin with.", ORIGIN],
  vkey: ["The log's public key as C2SP writes it: what a verifier is given once, by a way that it trusts.", VKEY],
  leaf_index: ["The receipt's place, counted from 0.", 1_203],
  tree_size: ["How many receipts the tree has.", 1_204],
  root_hash: ["The root of the tree, in base64.", HASH],
  salt: ["What the commitment is salted with, in base64; known to whoever may see the receipt.", HASH],
  commitment: ["What the log holds of the receipt: SHA-256 of a prefix, the salt and the receipt as JSON.", HASH],
  leaf_hash: ["The hash of the leaf that holds the commitment (RFC 6962).", HASH],
  hashes: ["The hashes beside the path, from the leaf up, in base64.", [HASH]],
  checkpoint: ["The signed root, as the log serves it.", CHECKPOINT],
  "TransparencyLog.": ["Where receipts are proven, and the keys that prove them."],
  transparency_log: ["Where receipts are proven, and the keys that prove them."],
  "TransparencyLog.checkpoint": ["The newest signed root.", `https://${ORIGIN}/checkpoint`],
  jwks: ["The log's keys as JWK.", "https://billing.example.org/.well-known/jwks.json"],
  vkeys: ["The log's keys as C2SP writes them, the newest first.", [VKEY]],
  "Checkpoint.": ["A C2SP signed note: origin, tree size, root hash; an empty line; signatures.", CHECKPOINT],
  "log.checkpoint.200": ["The note.", CHECKPOINT],
  "log.checkpointOf.200": ["The note.", CHECKPOINT],
  "log.tile.200": ["The hashes.", "…"],
  "log.tileOf.200": ["The hashes.", "…"],
  "Tile.": ["256 hashes of 32 bytes, fewer in a partial tile; of entries each with its length in front.", "…"],
  "Logs.": ["Every log there ever was."],
  logs: ["Oldest first."],
  "Log.": ["One log: its key, its size, where to read it."],
  "Log.log": ["Its number.", 1],
  open: ["Whether it takes new receipts.", true],
  stopped: [
    "Why it takes no more receipts: its tree is not the last one that was signed.",
    "the database has 1200 receipts of it, and a tree of 1204 receipts was signed"
  ],
  statement: [
    "Of a log that follows a stopped one: a signed note that names the log before, the last tree that was signed of it, and " +
      "the tree that is left.",
    `agent-tool-billing/log-succession/v1\nlog: ${ORIGIN}\n…`
  ],
  checkpoint_url: ["Where its newest signed root is.", `https://${ORIGIN}/checkpoint`],
  tiles_url: ["Where its tiles are.", `https://${ORIGIN}/tile/`],
  log: ["The number of a log.", 1],
  level: ["The level of the tile, from 0 for leaves up; `entries` for what they hold.", "0"],
  tile: ["Its number in groups of three digits: `x001/234`; with `.p/17` behind it, the first 17 of it.", "000"],
  "Consistency.": ["Proves that the larger tree begins with the smaller one."],
  "Consistency.from": ["The smaller tree.", 1_000],
  "Consistency.to": ["The larger tree.", 1_204],
  "log.consistency.from": ["The smaller tree's size.", 1_000],
  "log.consistency.to": ["The larger tree's size.", 1_204],
  "LogKeys.": ["Public keys as JWK (RFC 8037)."],
  keys: ["The newest first."],
  "LogKey.": ["An Ed25519 key of the log."],
  kty: ["Always `OKP`."],
  crv: ["Always `Ed25519`."],
  x: ["The public key, in base64url.", KEY.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")],
  kid: ["The key's id, as it stands in vkey.", "1c2d3e4f"],
  use: ["Always `sig`."],
  alg: ["Always `EdDSA`."]
}
