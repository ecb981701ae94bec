/**
 * The transparency log: verifies receipts without trust in this service.
 */
import { HttpApiGroup, OpenApi } from "effect/http-api"
import { uncached } from "./Access.ts"
import * as Endpoint from "./Endpoint.ts"
import * as Field from "./Field.ts"
import { Checkpoint, Consistency, LogKeys, LogList, logNumber, Proof, Tile, tileParams, TreeSize } from "./LogBodies.ts"
import { receiptId } from "./SharedFields.ts"

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
        "changes.",
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
        from: Field.of(TreeSize, "Size of the smaller tree.", "1000"),
        to: Field.of(TreeSize, "Size of the larger tree.", "1204"),
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
    OpenApi.annotations({
      title: "Transparency log",
      description:
        "An append-only Merkle tree of commitments to every receipt (RFC 6962, C2SP tlog-tiles). It reveals no usage."
    })
  ) {}
