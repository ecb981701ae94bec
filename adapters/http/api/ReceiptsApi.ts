/**
 * Receipts: read by their parties, verified by anybody.
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Receipt, RECEIPT_ALGORITHM, ReceiptStatus } from "../../../domain/receipts/Receipt.ts"
import { ReceiptId, ToolId } from "../../../domain/shared/Ids.ts"
import { Timestamp } from "../../../domain/shared/Timestamp.ts"
import { Access, KeyAuth, readBy, uncached } from "./Access.ts"
import { Instant, pageQuery } from "./Fields.ts"
import { problems } from "./Problem.ts"

const ReceiptPage = Schema.Struct({
  receipts: Schema.Array(Receipt),
  total: Schema.Int,
  limit: Schema.Int,
  offset: Schema.Int,
  next_cursor: Schema.NullOr(Schema.String)
}).annotate({ identifier: "ReceiptPage" })

const OneReceipt = Schema.Struct({
  receipt: Receipt,
  verification: Schema.Struct({
    valid: Schema.Boolean,
    algorithm: Schema.Literal(RECEIPT_ALGORITHM),
    verified_at: Timestamp
  })
}).annotate({ identifier: "OneReceipt" })

/** Of any issuer that signs this format: what is checked, and the fields of a receipt that are not signed. */
const ReceiptToVerify = Schema.Struct({
  receipt_id: ReceiptId,
  tool_id: Schema.String,
  tool_name: Schema.optionalKey(Schema.String),
  agent_id: Schema.String,
  provider_id: Schema.String,
  timestamp: Schema.String,
  duration_ms: Schema.optionalKey(Schema.Int),
  cost_microcents: Schema.Int,
  status: Schema.String,
  signature: Receipt.fields.signature,
  created_at: Schema.optionalKey(Schema.String)
}).annotate({ identifier: "ReceiptToVerify" })

const WrappedReceipt = Schema.Struct({ receipt: ReceiptToVerify }).annotate({ identifier: "WrappedReceipt" })

const Verification = Schema.Struct({
  receipt: Schema.Json,
  verification: Schema.Struct({
    valid: Schema.Boolean,
    reason: Schema.Literals([
      "ok",
      "missing_fields",
      "ambiguous_fields",
      "bad_receipt_id",
      "bad_signature_format",
      "signature_mismatch"
    ]),
    missing: Schema.optionalKey(Schema.Array(Schema.String)),
    checked: Schema.Struct({ canonical: Schema.String, algorithm: Schema.Literal(RECEIPT_ALGORITHM) }),
    verified_at: Timestamp
  })
}).annotate({ identifier: "Verification" })

export class ReceiptsApi extends HttpApiGroup.make("receipts")
  .add(
    HttpApiEndpoint.get("list", "/api/v1/market/receipts", {
      query: {
        ...pageQuery,
        tool_id: Schema.optionalKey(ToolId),
        status: Schema.optionalKey(ReceiptStatus),
        from: Schema.optionalKey(Instant),
        to: Schema.optionalKey(Instant)
      },
      success: ReceiptPage,
      error: problems(400, 401, 403)
    })
      .annotate(Access, readBy("consumer", "provider"))
      .middleware(KeyAuth)
      .annotateMerge(
        OpenApi.annotations({
          summary: "List your receipts",
          description: "A consumer's calls, or the calls of a provider's tools; newest first."
        })
      ),
    HttpApiEndpoint.get("find", "/api/v1/market/receipts/:id", {
      params: { id: ReceiptId },
      success: OneReceipt,
      error: problems(404)
    })
      .annotate(Access, uncached)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Fetch and verify a receipt",
          description:
            "Anybody who was given a receipt's id may look it up: the id cannot be guessed and names no party."
        })
      ),
    HttpApiEndpoint.post("verify", "/api/v1/verify", {
      payload: Schema.Union([ReceiptToVerify, WrappedReceipt]),
      success: Verification,
      error: problems(400, 413, 415)
    })
      .annotate(Access, uncached)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Verify a receipt",
          description:
            "Stateless. Takes a bare receipt or `{receipt}`; answers 200 for any JSON and says what is wrong. " +
            'What is no JSON at all gets 400 with nothing but `{"error":true,"code":"BAD_REQUEST"}`, as existing verifiers expect.'
        })
      )
  )
  .annotateMerge(OpenApi.annotations({ title: "Receipts", description: "Signed receipts, and their verification." })) {}
