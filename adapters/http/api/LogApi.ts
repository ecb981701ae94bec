/**
 * The transparency log: what anybody needs to check receipts without trusting this service.
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Receipt } from "../../../domain/receipts/Receipt.ts"
import { ReceiptId } from "../../../domain/shared/Ids.ts"
import { Access, uncached } from "./Access.ts"
import { WholeNumber } from "./Fields.ts"
import { problems } from "./Problem.ts"

const LogNumber = WholeNumber(1, 32_767)
const TreeSize = WholeNumber(0, 9_999_999_999)

const Checkpoint = Schema.String.annotate({ identifier: "Checkpoint" }).pipe(HttpApiSchema.asText())
const Tile = Schema.Uint8Array.annotate({ identifier: "Tile" }).pipe(HttpApiSchema.asUint8Array())

const OneLog = Schema.Struct({
  log: Schema.Int,
  origin: Schema.String,
  vkey: Schema.String,
  open: Schema.Boolean,
  stopped: Schema.optionalKey(Schema.String),
  statement: Schema.optionalKey(Schema.String),
  tree_size: Schema.Int,
  root_hash: Schema.String,
  checkpoint_url: Schema.String,
  tiles_url: Schema.String
}).annotate({ identifier: "Log" })

const Proof = Schema.Struct({
  receipt: Receipt,
  log: Schema.Int,
  origin: Schema.String,
  vkey: Schema.String,
  leaf_index: Schema.Int,
  tree_size: Schema.Int,
  root_hash: Schema.String,
  salt: Schema.String,
  commitment: Schema.String,
  leaf_hash: Schema.String,
  hashes: Schema.Array(Schema.String),
  checkpoint: Schema.String
}).annotate({ identifier: "ReceiptProof" })

const Jwk = Schema.Struct({
  kty: Schema.Literal("OKP"),
  crv: Schema.Literal("Ed25519"),
  x: Schema.String,
  kid: Schema.String,
  use: Schema.Literal("sig"),
  alg: Schema.Literal("EdDSA"),
  origin: Schema.String,
  vkey: Schema.String
}).annotate({ identifier: "LogKey" })

const tile = { level: Schema.String, tile: Schema.String }

export class LogApi extends HttpApiGroup.make("log")
  .add(
    HttpApiEndpoint.get("proof", "/api/v1/market/receipts/:id/proof", {
      params: { id: ReceiptId },
      query: { tree_size: Schema.optionalKey(TreeSize) },
      success: Proof,
      error: problems(400, 404, 422)
    })
      .annotate(Access, uncached)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Prove a receipt offline",
          description:
            "The proof that the receipt is in the log, as `c2sp.org/tlog-proof@v1` text; as JSON to whoever accepts " +
            "`application/json`. A receipt is in the log within a second; this waits for it. `tree_size`: in the tree " +
            "as it was then."
        })
      ),
    HttpApiEndpoint.get("logs", "/api/v1/market/log", {
      success: Schema.Struct({ logs: Schema.Array(OneLog) }).annotate({ identifier: "Logs" }),
      error: problems()
    })
      .annotate(Access, uncached)
      .annotateMerge(
        OpenApi.annotations({
          summary: "List the logs",
          description:
            "Oldest first; the last one takes new receipts. A new signing key begins a new log, and so does the operator after a log was stopped."
        })
      ),
    HttpApiEndpoint.get("checkpoint", "/api/v1/market/log/checkpoint", {
      success: Checkpoint,
      error: problems(404)
    })
      .annotate(Access, uncached)
      .annotateMerge(
        OpenApi.annotations({
          summary: "The newest signed root",
          description:
            "A C2SP signed note: origin, tree size, root hash, signature. Of the log that takes new receipts."
        })
      ),
    HttpApiEndpoint.get("checkpointOf", "/api/v1/market/log/:log/checkpoint", {
      params: { log: LogNumber },
      success: Checkpoint,
      error: problems(404)
    })
      .annotate(Access, uncached)
      .annotateMerge(OpenApi.annotations({ summary: "The newest signed root of one log" })),
    HttpApiEndpoint.get("tile", "/api/v1/market/log/tile/:level/:tile", {
      params: tile,
      success: Tile,
      error: problems(404)
    })
      .annotate(Access, uncached)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Read a tile of the tree",
          description:
            "C2SP tlog-tiles: `tile/0/x001/234`, a partial one with `.p/17` behind it, entries at `tile/entries/…`. What " +
            "was served once never changes."
        })
      ),
    HttpApiEndpoint.get("tileOf", "/api/v1/market/log/:log/tile/:level/:tile", {
      params: { log: LogNumber, ...tile },
      success: Tile,
      error: problems(404)
    })
      .annotate(Access, uncached)
      .annotateMerge(OpenApi.annotations({ summary: "Read a tile of one log" })),
    HttpApiEndpoint.get("consistency", "/api/v1/market/log/consistency", {
      query: { from: TreeSize, to: TreeSize, log: Schema.optionalKey(LogNumber) },
      success: Schema.Struct({
        origin: Schema.String,
        from: Schema.Int,
        to: Schema.Int,
        hashes: Schema.Array(Schema.String)
      }).annotate({ identifier: "Consistency" }),
      error: problems(400, 404, 422)
    })
      .annotate(Access, uncached)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Prove that the log only grew",
          description: "The RFC 6962 consistency proof between two tree sizes: that nothing was taken out or changed."
        })
      ),
    HttpApiEndpoint.get("keys", "/.well-known/jwks.json", {
      success: Schema.Struct({ keys: Schema.Array(Jwk) }).annotate({ identifier: "LogKeys" }),
      error: problems()
    })
      .annotate(Access, uncached)
      .annotateMerge(
        OpenApi.annotations({
          summary: "The log's public keys",
          description: "Every key that ever signed a checkpoint, the newest first, as JWK and as C2SP vkey."
        })
      )
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Transparency log",
      description:
        "An append-only Merkle tree of commitments to every receipt (RFC 6962, C2SP tlog-tiles). It shows nobody's usage."
    })
  ) {}
