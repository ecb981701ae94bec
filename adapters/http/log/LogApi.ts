/**
 * The transparency log: verifies receipts without trust in this service.
 */
import { Schema } from "effect"
import { HttpApiGroup, HttpApiSchema } from "effect/http-api"
import * as Endpoint from "../contract/Endpoint.ts"
import { uncached } from "../contract/Endpoint.ts"
import * as Field from "../contract/Field.ts"
import { WholeNumber } from "../contract/InputSchemas.ts"
import { ReceiptBody, receiptId } from "../contract/SharedFields.ts"

const ORIGIN = "billing.example.org/api/v1/market/log/1"
const LOG_URL = `https://${ORIGIN}`
const HASH = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
const VKEY = `${ORIGIN}+1c2d3e4f+AepFdGyJToYF29QpghT9FKQuhbwLB8ikq+bBMr5DzxUG`
const CHECKPOINT = `${ORIGIN}\n1204\n${HASH}\n\n— ${ORIGIN} HC0+Tw…\n`

const logNumber = Field.of(WholeNumber(1, 32_767), "Number of the log.", "1")
const TreeSize = WholeNumber(0, 9_999_999_999)

const log = Field.int("Number of the log.", 1)
const origin = Field.string("Name of the log, the first line of its checkpoints.", ORIGIN)
const vkey = Field.string("Public key of the log as a C2SP vkey.", VKEY)
const treeSize = Field.int("Number of receipts in the tree.", 1_204)
const rootHash = Field.string("Root hash of the tree in base64.", HASH)

const Checkpoint = Schema.String.annotate({
  identifier: "Checkpoint",
  description: "A C2SP signed note: origin, tree size, root hash, an empty line, signatures.",
  examples: [CHECKPOINT]
}).pipe(HttpApiSchema.asText())

const Tile = Schema.Uint8Array.annotate({
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

const LogList = Field.object("Logs", "All logs.", { logs: Field.list(Log, "Logs, oldest first.") })

const Proof = Field.object("ReceiptProof", "A receipt and the proof that the log contains it.", {
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

const Consistency = Field.object("Consistency", "Proof that the larger tree starts with the smaller tree.", {
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

const LogKeys = Field.object("LogKeys", "Public keys as JWK (RFC 8037).", {
  keys: Field.list(Jwk, "Keys, newest first.")
})

const tileParams = {
  level: Field.string("Level of the tile, from 0 (leaves) up, or `entries`.", "0"),
  tile: Field.string(
    "Number of the tile in groups of three digits (`x001/234`); with suffix `.p/17`, a partial tile.",
    "000"
  )
}

export class LogApi extends HttpApiGroup.make("log")
  .add(
    Endpoint.get("proof", "/api/v1/market/receipts/:id/proof", {
      access: uncached,
      summary: "Retrieve the proof of a receipt",
      description:
        "Returns the proof that the log contains the receipt, as `c2sp.org/tlog-proof@v1` text, or as JSON with `Accept: " +
        "application/json`. A receipt is added to the log within a second; the request waits for it.",
      params: { id: receiptId },
      query: {
        tree_size: Field.optional(TreeSize, "Size of the tree to prove inclusion in. Default: the newest tree.")
      },
      success: Proof
    }),
    Endpoint.get("logs", "/api/v1/market/log", {
      access: uncached,
      summary: "List the logs",
      description:
        "Oldest first. New receipts are added to the last log. A new signing key starts a new log; the operator starts one " +
        "after a log was stopped.",
      success: LogList
    }),
    Endpoint.get("checkpoint", "/api/v1/market/log/checkpoint", {
      access: uncached,
      summary: "Retrieve the newest checkpoint",
      description: "Returns a C2SP signed note of the open log: origin, tree size, root hash, signatures.",
      success: Checkpoint,
      problems: [404]
    }),
    Endpoint.get("checkpointOf", "/api/v1/market/log/:log/checkpoint", {
      access: uncached,
      summary: "Retrieve the newest checkpoint of a log",
      params: { log: logNumber },
      success: Checkpoint
    }),
    Endpoint.get("tile", "/api/v1/market/log/tile/:level/:tile", {
      access: uncached,
      summary: "Retrieve a tile",
      description:
        "C2SP tlog-tiles: `tile/0/x001/234`, a partial tile with suffix `.p/17`, entries at `tile/entries/…`. A tile never " +
        "changes. Until a log has 256 receipts, its first tile is partial.",
      params: tileParams,
      success: Tile
    }),
    Endpoint.get("tileOf", "/api/v1/market/log/:log/tile/:level/:tile", {
      access: uncached,
      summary: "Retrieve a tile of a log",
      params: { log: logNumber, ...tileParams },
      success: Tile
    }),
    Endpoint.get("consistency", "/api/v1/market/log/consistency", {
      access: uncached,
      summary: "Retrieve a consistency proof",
      description: "Returns the RFC 6962 proof between two tree sizes: no entry was removed or changed.",
      query: {
        from: Field.of(TreeSize, "Size of the smaller tree.", "1"),
        to: Field.of(TreeSize, "Size of the larger tree.", "2"),
        log: Field.optional(logNumber, "Number of the log. Default: the open log.")
      },
      success: Consistency,
      problems: [404]
    }),
    Endpoint.get("keys", "/.well-known/jwks.json", {
      access: uncached,
      summary: "List the log's public keys",
      description: "Returns every key that signed a checkpoint, newest first, as JWK and as C2SP vkey.",
      success: LogKeys
    })
  )
  .annotateMerge(
    Endpoint.about(
      "Transparency log",
      "An append-only Merkle tree of commitments to every receipt (RFC 6962, C2SP tlog-tiles). It reveals no usage."
    )
  ) {}
