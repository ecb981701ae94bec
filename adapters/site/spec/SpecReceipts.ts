/**
 * Specification of receipts: fields, signature and verification. The check value is computed by the code that signs.
 */
import { createHmac } from "node:crypto"
import {
  canonical,
  Receipt,
  RECEIPT_ALGORITHM,
  type ReceiptStatus,
  SIGNED_FIELDS
} from "../../../domain/receipts/Receipt.ts"
import { RECEIPT_SCHEMA_PATH, RECEIPT_SCHEMA_TITLE } from "../../http/contract/SharedFields.ts"
import type { VerificationReason } from "../../../domain/receipts/Verification.ts"
import {
  code,
  codeList,
  definitions,
  heading,
  list,
  numbered,
  paragraph,
  type SpecSection,
  table
} from "./SpecMarkup.ts"

const SAMPLE_SECRET = "contract-check"
const SAMPLE = {
  receipt_id: "rcpt_00000000000000000000000000000001",
  tool_id: "t1",
  agent_id: "a1",
  provider_id: "p1",
  timestamp: "2026-01-01T00:00:00.000Z",
  cost_microcents: 50_000,
  status: "success"
}

export const sampleSignature = createHmac("sha256", SAMPLE_SECRET).update(canonical(SAMPLE)).digest("hex")

const FIELDS: Readonly<Record<keyof Receipt, string>> = {
  receipt_id:
    "`rcpt_` and at least 16 lowercase hex digits (this service: 32, of which the last four are the platform fee in basis points). Also the id of the call.",
  tool_id: "UUID of the tool.",
  tool_name: "Name of the tool at the time of the call.",
  agent_id: "UUID of the billed consumer.",
  provider_id: "UUID of the provider.",
  timestamp: "Time of the call: ISO 8601, UTC, milliseconds, `Z`.",
  duration_ms: "Duration of the provider's response, an integer.",
  cost_microcents: "Billed amount, an integer.",
  status: "Outcome of the call.",
  signature: "64 lowercase hex digits.",
  created_at: "Time of issue, in the format of `timestamp`."
}

const STATUSES: Readonly<Record<ReceiptStatus, string>> = {
  success: "The provider returned a complete result.",
  error: "A result with `isError`, a JSON-RPC error, an HTTP error, a network error or an unreadable response.",
  timeout: "No response within the timeout.",
  rate_limited: "The provider returned 429."
}

/** In the order in which they are checked. */
const REASONS: Readonly<Record<VerificationReason, string>> = {
  missing_fields:
    "A signed field or the signature is missing or has the wrong type: strings must not be empty, the amount must be an " +
    "integer, and values are not converted. `missing` lists them in signed order, then `signature`; for a body that is not " +
    "an object, all eight.",
  ambiguous_fields: "A signed field contains `|`.",
  bad_receipt_id: "`receipt_id` is not `rcpt_` and at least 16 lowercase hex digits.",
  bad_signature_format: "`signature` is not 64 lowercase hex digits.",
  signature_mismatch: "The signature does not match any of the issuer's secrets. Compared in constant time.",
  ok: "The receipt is authentic."
}

export const reasonNames = Object.keys(REASONS)

export const receiptsSection = (): SpecSection => ({
  id: "receipts",
  title: "Receipts",
  body: [
    paragraph("Every forwarded call has exactly one receipt, whatever its outcome, with exactly these fields:"),
    table(
      "Fields of a receipt",
      ["Field", "Meaning", "Signed"],
      Object.keys(Receipt.fields).map((name) => [
        `\`${name}\``,
        FIELDS[name as keyof Receipt],
        (SIGNED_FIELDS as ReadonlyArray<string>).includes(name) ? "yes" : "no"
      ])
    ),
    paragraph(
      `Their JSON Schema, *${RECEIPT_SCHEMA_TITLE}*, is at \`${RECEIPT_SCHEMA_PATH}\`: ids of other issuers need no UUID, and`,
      "`tool_name` and `duration_ms` are `null` where an issuer does not know them."
    ),
    definitions("Values of status", "Status", STATUSES),
    heading("Signature"),
    paragraph(
      "The signed text is seven fields in this order, joined by `|` without spaces; the amount in base 10, the timestamp byte",
      "for byte:"
    ),
    code(SIGNED_FIELDS.join("|")),
    paragraph(
      `\`signature\` is ${RECEIPT_ALGORITHM} of this text in UTF-8, in lowercase hex. The key is the issuer's secret in UTF-8.`,
      "An issuer may have several secrets: one signs, all verify. Ids never contain `|`."
    ),
    heading("Test vector"),
    paragraph(`With the secret \`${SAMPLE_SECRET}\`, the text`),
    code(canonical(SAMPLE)),
    paragraph("has the signature"),
    code(sampleSignature),
    heading("Verification by the issuer"),
    paragraph(
      '`POST /api/v1/verify` accepts a receipt, or `{"receipt": …}`, without authentication. It returns 200 for any JSON with',
      "`valid` and the first reason that applies:"
    ),
    numbered(Object.entries(REASONS).map(([reason, meaning]) => `\`${reason}\`: ${meaning}`)),
    list(
      `\`checked.canonical\` is the signed text; it is empty unless ${codeList(SIGNED_FIELDS)} all have the right type.`,
      'Invalid JSON returns 400 with exactly `{"error":true,"code":"BAD_REQUEST"}`.',
      "GET and HEAD return 405 with an empty body.",
      "Only the issuer has the secret. To verify without the issuer, use the transparency log."
    )
  ]
})
