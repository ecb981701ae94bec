/**
 * The specification of receipts: their fields, what is signed, and how a verifier judges them. The check value is computed
 * here from the rules that the service itself runs on.
 */
import { createHmac } from "node:crypto"
import {
  canonical,
  Receipt,
  RECEIPT_ALGORITHM,
  ReceiptStatus,
  SIGNED_FIELDS
} from "../../../domain/receipts/Receipt.ts"
import type { VerificationReason } from "../../../domain/receipts/Verification.ts"
import { codes, heading, listing, ordered, points, said, type SpecPart, text } from "./SpecParts.ts"

const CHECK_SECRET = "contract-check"
const CHECKED = {
  receipt_id: "rcpt_00000000000000000000000000000001",
  tool_id: "t1",
  agent_id: "a1",
  provider_id: "p1",
  timestamp: "2026-01-01T00:00:00.000Z",
  cost_microcents: 50_000,
  status: "success"
}

export const checkSignature = createHmac("sha256", CHECK_SECRET).update(canonical(CHECKED)).digest("hex")

const MEANINGS: Readonly<Record<keyof Receipt, string>> = {
  receipt_id: "`rcpt_` and 16 or more lowercase hex digits; ours have 32. The call's own id, too.",
  tool_id: "UUID of the tool.",
  tool_name: "The tool's name when it was called. Not signed.",
  agent_id: "UUID of the consumer that is billed.",
  provider_id: "UUID of the provider.",
  timestamp: "When the call was made: ISO 8601, UTC, milliseconds, `Z`.",
  duration_ms: "How long the provider took, an integer. Not signed.",
  cost_microcents: "What was billed, an integer.",
  status: "How the call ended.",
  signature: "64 lowercase hex digits.",
  created_at: "When the receipt was issued, in the form of `timestamp`. Not signed."
}

const OUTCOMES: Readonly<Record<ReceiptStatus, string>> = {
  success: "The provider answered with a finished result.",
  error: "A result with `isError`, a JSON-RPC error, an HTTP error, a network fault, an answer that cannot be read.",
  timeout: "No answer in time.",
  rate_limited: "The provider answered 429."
}

/** In the order in which they are looked for. */
const REASONS: Readonly<Record<VerificationReason, string>> = {
  missing_fields:
    "A signed field or the signature is absent or not of the right type: texts not empty, the amount an integer, nothing " +
    "converted. `missing` lists them in signed order, then `signature`; a body that is no object misses all eight.",
  ambiguous_fields: "A signed field has a `|` in it.",
  bad_receipt_id: "`receipt_id` is not `rcpt_` and at least 16 lowercase hex digits.",
  bad_signature_format: "`signature` is not 64 lowercase hex digits.",
  signature_mismatch: "No secret of the issuer made this signature for these fields. Compared in constant time.",
  ok: "It is the issuer's, and unchanged."
}

export const receiptsPart = (): SpecPart => ({
  id: "receipts",
  title: "Receipts",
  body: [
    said(
      "Every call that was forwarded has exactly one receipt, whatever its outcome. It has these fields and no other:"
    ),
    listing(
      "Fields of a receipt",
      ["Field", "Meaning", "Signed"],
      Object.keys(Receipt.fields).map((name) => [
        `\`${name}\``,
        MEANINGS[name as keyof Receipt],
        (SIGNED_FIELDS as ReadonlyArray<string>).includes(name) ? "yes" : "–"
      ])
    ),
    listing(
      "Values of status",
      ["Status", "Meaning"],
      ReceiptStatus.literals.map((status) => [`\`${status}\``, OUTCOMES[status]])
    ),
    heading("What is signed"),
    said(
      "Seven fields, in this order, joined by a single `|`, without spaces and without a separator at the end; the amount in",
      "base 10, the timestamp as its exact text:"
    ),
    text(SIGNED_FIELDS.join("|")),
    said(
      `\`signature\` is ${RECEIPT_ALGORITHM} of that text in UTF-8, in lowercase hex. The key is the issuer's secret as`,
      "UTF-8. The issuer may have several secrets: one signs, all of them verify. No id ever contains a `|`."
    ),
    heading("Check value"),
    said(`With the secret \`${CHECK_SECRET}\` the text`),
    text(canonical(CHECKED)),
    said("has the signature"),
    text(checkSignature),
    heading("Verification by the issuer"),
    said(
      '`POST /api/v1/verify` takes a receipt, or `{"receipt": …}`, from anybody, and answers 200 for any JSON with `valid`',
      "and the first of these reasons that applies:"
    ),
    ordered(Object.entries(REASONS).map(([reason, meaning]) => `\`${reason}\`: ${meaning}`)),
    points(
      `\`checked.canonical\` is the text above; it is empty unless all of ${codes(SIGNED_FIELDS)} have the right type.`,
      'JSON that does not parse is answered 400 with exactly `{"error":true,"code":"BAD_REQUEST"}`.',
      "GET and HEAD are answered 405 with an empty body.",
      "Only the issuer has the secret. Who wants to rely on nobody uses the transparency log."
    )
  ]
})

export const reasonNames = Object.keys(REASONS)
