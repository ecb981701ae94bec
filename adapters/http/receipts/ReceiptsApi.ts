/**
 * Receipts: lists, lookup and verification.
 */
import { Schema } from "effect"
import { HttpApiGroup } from "effect/http-api"
import { type CallCause, RECEIPT_ALGORITHM, ReceiptStatus } from "../../../domain/receipts/Receipts.ts"
import { ToolId } from "../../../domain/shared/Ids.ts"
import { COUNTED_MAX } from "../../../domain/shared/Page.ts"
import * as Endpoint from "../contract/Endpoint.ts"
import { readBy, uncached } from "../contract/Endpoint.ts"
import * as Field from "../contract/Field.ts"
import { Instant, pageQuery } from "../contract/InputSchemas.ts"
import { CONSUMER_ID, NOW, PROVIDER_ID, RECEIPT_ID, TOOL_ID } from "../contract/SampleValues.ts"
import { Timestamp } from "../../../domain/shared/Time.ts"
import { pageFields, ReceiptBody, receiptId, signature } from "../contract/SharedFields.ts"

const receipt = Field.of(ReceiptBody, "The receipt.")
const valid = Field.boolean("Whether the receipt was signed by this service and is unchanged.")
const algorithm = Field.always(RECEIPT_ALGORITHM, "Algorithm of the signature.")
const verifiedAt = Field.timestamp("Time of the verification.")

const ReceiptPage = Field.object("ReceiptPage", "A page of receipts.", {
  receipts: Field.list(ReceiptBody, "Receipts of this page, newest first."),
  ...pageFields,
  total: Field.int(
    `Number of items in the filtered list, counted up to ${COUNTED_MAX}; with \`tool_id\`, up to ${COUNTED_MAX / 10}.`,
    1
  ),
  archived_before: Field.optional(
    Timestamp,
    "Receipts that were created before this time are in an archive: no list has them, and each is found by its ID. Absent without an archive."
  )
})

const OneReceipt = Field.object("OneReceipt", "The receipt, and the verification of its signature.", {
  receipt,
  verification: Field.of(Schema.Struct({ valid, algorithm, verified_at: verifiedAt }), "Result of the verification.")
})

const CallDetails = Field.object("CallDetails", "What is stored of a call besides its receipt.", {
  receipt_id: Field.of(receiptId, "ID of the receipt.", RECEIPT_ID),
  request_id: Field.nullableString(
    "`X-Request-Id` of the request that ended the call. Only its caller can read it; `null` for others, and where no request did.",
    "0193fa00-9c1e-7f43-8b6d-5a4e3d2c1b0a"
  ),
  cause: Field.nullable(
    Schema.Literals(["input_rejected", "canceled"] satisfies ReadonlyArray<CallCause>),
    "Why the outcome is `error`, where that is known: the provider rejected the arguments or a client that lacks a capability, or the caller or the service ended the call, which counts against no provider.",
    null
  ),
  stages: Field.of(
    Schema.Struct({
      hold_ms: Field.nullableInt("Time to reserve the price. `null` for a reported call.", 2),
      provider_ms: Field.int("Time that the provider took, with retries: `duration_ms` of the receipt.", 120),
      signed_after_ms: Field.nullableInt(
        "Time from the start of the hold until the receipt was signed, with waits for input. `null` for a reported call.",
        123
      )
    }),
    "Duration of each stage, in milliseconds. The settlement stores them, so its own duration is not among them."
  )
})

/** A receipt of any issuer of this format: the signed fields are required, the others optional. */
const ReceiptToVerify = Field.object(
  "ReceiptToVerify",
  "A receipt: the seven signed fields and the signature are required, other fields are allowed.",
  {
    receipt_id: Field.of(receiptId, "ID of the receipt: `rcpt_` and at least 16 lowercase hex digits.", RECEIPT_ID),
    tool_id: Field.string("ID of the tool.", TOOL_ID),
    tool_name: Field.optional(Schema.NullOr(Schema.String), "Name of the tool."),
    agent_id: Field.string("ID of the consumer.", CONSUMER_ID),
    provider_id: Field.string("ID of the provider.", PROVIDER_ID),
    timestamp: Field.string("Time of the call, byte for byte as signed.", NOW),
    duration_ms: Field.optional(Schema.NullOr(Schema.Int), "Duration of the call in milliseconds."),
    cost_microcents: Field.of(Schema.Int, "Cost of the call in microcents.", 500),
    status: Field.string("Outcome of the call.", "success"),
    signature,
    created_at: Field.optional(Schema.String, "Time of creation.")
  }
)

const WrappedReceipt = Field.object(
  "WrappedReceipt",
  "A receipt in `receipt`, as `GET /api/v1/market/receipts/{id}` returns it.",
  { receipt: Field.of(ReceiptToVerify, "The receipt.") }
)

const Verification = Field.object("Verification", "Whether the receipt is valid and, if not, why.", {
  receipt: Field.of(Schema.Json, "The receipt, as sent.", { receipt_id: RECEIPT_ID }),
  verification: Field.of(
    Schema.Struct({
      valid,
      reason: Field.of(
        Schema.Literals([
          "ok",
          "missing_fields",
          "ambiguous_fields",
          "bad_receipt_id",
          "bad_signature_format",
          "signature_mismatch"
        ]),
        "First reason why the receipt is invalid, or `ok`."
      ),
      missing: Field.optional(Schema.Array(Schema.String), "Signed fields that are absent or have the wrong type."),
      checked: Field.of(
        Schema.Struct({
          canonical: Field.string(
            "Signed text. Empty if a signed field is missing.",
            `${RECEIPT_ID}|${TOOL_ID}|${CONSUMER_ID}|${PROVIDER_ID}|${NOW}|500|success`
          ),
          algorithm
        }),
        "What was verified."
      ),
      verified_at: verifiedAt
    }),
    "Result of the verification."
  )
})

export class ReceiptsApi extends HttpApiGroup.make("receipts")
  .add(
    Endpoint.get("list", "/api/v1/market/receipts", {
      access: readBy("consumer", "provider"),
      summary: "List your receipts",
      description: "Returns the receipts of your calls, newest first. With a provider key: of the calls of your tools.",
      query: {
        ...pageQuery,
        tool_id: Field.optional(ToolId, "ID of the tool."),
        status: Field.optional(ReceiptStatus, "Outcome of the calls."),
        from: Field.optional(Instant, "Earliest time of the calls in ISO 8601, inclusive."),
        to: Field.optional(Instant, "Latest time of the calls in ISO 8601, exclusive.")
      },
      success: ReceiptPage
    }),
    Endpoint.get("find", "/api/v1/market/receipts/:id", {
      access: uncached,
      summary: "Retrieve and verify a receipt",
      description: "Any client with the receipt ID can retrieve the receipt: IDs cannot be guessed.",
      params: { id: receiptId },
      success: OneReceipt,
      problems: ["NOT_CONFIGURED"]
    }),
    Endpoint.get("call", "/api/v1/market/receipts/:id/call", {
      access: readBy("consumer", "provider"),
      summary: "Retrieve the details of a call",
      description: "For the consumer that made the call, and for the provider of the tool.",
      params: { id: receiptId },
      success: CallDetails
    }),
    Endpoint.post("verify", "/api/v1/verify", {
      access: uncached,
      summary: "Verify a receipt",
      description:
        "Takes a receipt or `{receipt}`. Any JSON is answered 200 with the result of the verification. A body that is not " +
        'JSON is answered 400 with exactly `{"error":true,"code":"BAD_REQUEST"}`, as existing verifiers expect.',
      payload: Schema.Union([ReceiptToVerify, WrappedReceipt]),
      success: Verification
    })
  )
  .annotateMerge(Endpoint.about("Receipts", "Signed receipts and their verification.")) {}
