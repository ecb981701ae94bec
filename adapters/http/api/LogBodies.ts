/**
 * The transparency log on the wire: logs, checkpoints, tiles, proofs and keys.
 */
import { Schema } from "effect"
import { HttpApiSchema } from "effect/http-api"
import * as Field from "./Field.ts"
import { WholeNumber } from "./InputSchemas.ts"
import { ReceiptBody } from "./ReceiptBody.ts"

const ORIGIN = "billing.example.org/api/v1/market/log/1"
const LOG_URL = `https://${ORIGIN}`
const HASH = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
const VKEY = `${ORIGIN}+1c2d3e4f+AepFdGyJToYF29QpghT9FKQuhbwLB8ikq+bBMr5DzxUG`
const CHECKPOINT = `${ORIGIN}\n1204\n${HASH}\n\n— ${ORIGIN} HC0+Tw…\n`

export const logNumber = Field.of(WholeNumber(1, 32_767), "Number of the log.", "1")
export const TreeSize = WholeNumber(0, 9_999_999_999)

const log = Field.int("Number of the log.", 1)
const origin = Field.string("Name of the log, the first line of its checkpoints.", ORIGIN)
const vkey = Field.string("Public key of the log as a C2SP vkey.", VKEY)
const treeSize = Field.int("Number of receipts in the tree.", 1_204)
const rootHash = Field.string("Root hash of the tree in base64.", HASH)

export const Checkpoint = Schema.String.annotate({
  identifier: "Checkpoint",
  description: "A C2SP signed note: origin, tree size, root hash, an empty line, signatures.",
  examples: [CHECKPOINT]
}).pipe(HttpApiSchema.asText())

export const Tile = Schema.Uint8Array.annotate({
  identifier: "Tile",
  description:
    "256 hashes of 32 bytes, fewer in a partial tile. An entry tile contains entries, each preceded by its length.",
  examples: ["…" as never]
}).pipe(HttpApiSchema.asUint8Array())

const Log = Field.object("Log", "A log: its key, its size and its URLs.", {
  log,
  origin,
  vkey,
  open: Field.boolean("Whether new receipts are added to this log."),
  stopped: Field.optional(
    Schema.String,
    "Reason why the log was stopped: its tree is not the last one that was signed."
  ),
  statement: Field.optional(
    Schema.String,
    "For the successor of a stopped log: a signed note that names the stopped log, its last signed tree, and the tree that is " +
      "left."
  ),
  tree_size: treeSize,
  root_hash: rootHash,
  checkpoint_url: Field.string("URL of the newest checkpoint.", `${LOG_URL}/checkpoint`),
  tiles_url: Field.string("Base URL of the tiles.", `${LOG_URL}/tile/`)
})

export const LogList = Field.object("Logs", "All logs.", { logs: Field.list(Log, "Logs, oldest first.") })

export const Proof = Field.object("ReceiptProof", "A receipt and the proof that the log contains it.", {
  receipt: Field.of(ReceiptBody, "The receipt."),
  log,
  origin,
  vkey,
  leaf_index: Field.int("Index of the receipt in the log, from 0.", 1_203),
  tree_size: treeSize,
  root_hash: rootHash,
  salt: Field.string("Salt of the commitment in base64. Known only to clients that can read the receipt.", HASH),
  commitment: Field.string("SHA-256 of a prefix, the salt, and the receipt as JSON, in base64.", HASH),
  leaf_hash: Field.string("Hash of the leaf that contains the commitment (RFC 6962), in base64.", HASH),
  hashes: Field.strings("Hashes of the inclusion proof, from the leaf up, in base64.", HASH),
  checkpoint: Field.string("The signed checkpoint.", CHECKPOINT)
})

export const Consistency = Field.object("Consistency", "Proof that the larger tree starts with the smaller tree.", {
  origin,
  from: Field.int("Size of the smaller tree.", 1_000),
  to: Field.int("Size of the larger tree.", 1_204),
  hashes: Field.strings("Hashes of the consistency proof in base64.", HASH)
})

const Jwk = Field.object("LogKey", "An Ed25519 public key of the log.", {
  kty: Field.always("OKP"),
  crv: Field.always("Ed25519"),
  x: Field.string("Public key in base64url.", "6kV0bIlOhgXb1CmCFP0UpC6FvAsHyKSr5sEyvkPPFQY"),
  kid: Field.string("ID of the key, as in `vkey`.", "1c2d3e4f"),
  use: Field.always("sig"),
  alg: Field.always("EdDSA"),
  origin,
  vkey
})

export const LogKeys = Field.object("LogKeys", "Public keys as JWK (RFC 8037).", {
  keys: Field.list(Jwk, "Keys, newest first.")
})

export const tileParams = {
  level: Field.string("Level of the tile, from 0 (leaves) up, or `entries`.", "0"),
  tile: Field.string(
    "Number of the tile in groups of three digits (`x001/234`); with suffix `.p/17`, a partial tile.",
    "000"
  )
}
