/**
 * The transparency log: verifies receipts without trust in this service.
 */
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { about, uncached } from "./Access.ts"
import * as Field from "./Field.ts"
import { Checkpoint, Consistency, LogKeys, LogList, logNumber, Proof, Tile, tileParams, TreeSize } from "./LogBodies.ts"
import { problems } from "./ProblemSchemas.ts"
import { receiptId } from "./SharedFields.ts"

export class LogApi extends HttpApiGroup.make("log")
  .add(
    HttpApiEndpoint.get("proof", "/api/v1/market/receipts/:id/proof", {
      params: { id: receiptId },
      query: {
        tree_size: Field.optional(TreeSize, "Size of the tree to prove inclusion in. Default: the newest tree.")
      },
      success: Proof,
      error: problems(400, 404, 422)
    }).annotateMerge(
      about(
        uncached,
        "Retrieve the proof of a receipt",
        "Returns the proof that the log contains the receipt, as `c2sp.org/tlog-proof@v1` text, or as JSON with `Accept: " +
          "application/json`. A receipt is added to the log within a second; the request waits for it."
      )
    ),
    HttpApiEndpoint.get("logs", "/api/v1/market/log", { success: LogList, error: problems() }).annotateMerge(
      about(
        uncached,
        "List the logs",
        "Oldest first. New receipts are added to the last log. A new signing key starts a new log; the operator starts one " +
          "after a log was stopped."
      )
    ),
    HttpApiEndpoint.get("checkpoint", "/api/v1/market/log/checkpoint", {
      success: Checkpoint,
      error: problems(404)
    }).annotateMerge(
      about(
        uncached,
        "Retrieve the newest checkpoint",
        "Returns a C2SP signed note of the open log: origin, tree size, root hash, signatures."
      )
    ),
    HttpApiEndpoint.get("checkpointOf", "/api/v1/market/log/:log/checkpoint", {
      params: { log: logNumber },
      success: Checkpoint,
      error: problems(404)
    }).annotateMerge(about(uncached, "Retrieve the newest checkpoint of a log")),
    HttpApiEndpoint.get("tile", "/api/v1/market/log/tile/:level/:tile", {
      params: tileParams,
      success: Tile,
      error: problems(404)
    }).annotateMerge(
      about(
        uncached,
        "Retrieve a tile",
        "C2SP tlog-tiles: `tile/0/x001/234`, a partial tile with suffix `.p/17`, entries at `tile/entries/…`. A tile never " +
          "changes."
      )
    ),
    HttpApiEndpoint.get("tileOf", "/api/v1/market/log/:log/tile/:level/:tile", {
      params: { log: logNumber, ...tileParams },
      success: Tile,
      error: problems(404)
    }).annotateMerge(about(uncached, "Retrieve a tile of a log")),
    HttpApiEndpoint.get("consistency", "/api/v1/market/log/consistency", {
      query: {
        from: Field.of(TreeSize, "Size of the smaller tree.", "1000"),
        to: Field.of(TreeSize, "Size of the larger tree.", "1204"),
        log: Field.optional(logNumber, "Number of the log. Default: the open log.")
      },
      success: Consistency,
      error: problems(400, 404, 422)
    }).annotateMerge(
      about(
        uncached,
        "Retrieve a consistency proof",
        "Returns the RFC 6962 proof between two tree sizes: no entry was removed or changed."
      )
    ),
    HttpApiEndpoint.get("keys", "/.well-known/jwks.json", { success: LogKeys, error: problems() }).annotateMerge(
      about(
        uncached,
        "List the log's public keys",
        "Returns every key that signed a checkpoint, newest first, as JWK and as C2SP vkey."
      )
    )
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Transparency log",
      description:
        "An append-only Merkle tree of commitments to every receipt (RFC 6962, C2SP tlog-tiles). It reveals no usage."
    })
  ) {}
