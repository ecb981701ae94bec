/**
 * Whether a receipt is authentic and unchanged. Stateless: needs only the receipt and the secrets. Reports the first
 * reason that applies.
 */
import { isReceiptId } from "../shared/Ids.ts"
import { canonical, SIGNED_FIELDS } from "./Receipt.ts"

export type VerificationReason =
  | "missing_fields"
  | "ambiguous_fields"
  | "bad_receipt_id"
  | "bad_signature_format"
  | "signature_mismatch"
  | "ok"

export interface Verdict {
  readonly valid: boolean
  readonly reason: VerificationReason
  /** In signed order, then `signature`; only with `missing_fields`. */
  readonly missing: ReadonlyArray<string> | undefined
  /** Empty unless all seven signed fields have the right type. */
  readonly canonical: string
}

const SIGNATURE = /^[0-9a-f]{64}$/u

/** Accepts any value and never throws. */
export const verifyReceipt = (
  candidate: unknown,
  verify: (canonical: string, signatureHex: string) => boolean
): Verdict => {
  const fields = fieldsOf(candidate)
  const missing = SIGNED_FIELDS.filter((name) => !hasRightType(name, fields[name])) as Array<string>
  const signature = fields["signature"]
  const text = missing.length > 0 ? "" : canonicalOf(fields)
  if (!isText(signature)) missing.push("signature")
  const verdict = (reason: VerificationReason): Verdict => ({
    valid: reason === "ok",
    reason,
    missing: reason === "missing_fields" ? missing : undefined,
    canonical: text
  })
  if (missing.length > 0 || !isText(signature)) return verdict("missing_fields")
  if (SIGNED_FIELDS.some((name) => String(fields[name]).includes("|"))) return verdict("ambiguous_fields")
  if (!isReceiptId(String(fields["receipt_id"]))) return verdict("bad_receipt_id")
  if (!SIGNATURE.test(signature)) return verdict("bad_signature_format")
  return verdict(verify(text, signature) ? "ok" : "signature_mismatch")
}

type Fields = Readonly<Partial<Record<string, unknown>>>

/** Each field is read once: a getter may throw or return another value the second time. */
const fieldsOf = (candidate: unknown): Fields =>
  Object.fromEntries([...SIGNED_FIELDS, "signature"].map((name) => [name, fieldOf(candidate, name)]))

const fieldOf = (candidate: unknown, name: string): unknown => {
  try {
    return isRecord(candidate) ? candidate[name] : undefined
  } catch {
    return undefined
  }
}

const isRecord = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const isText = (value: unknown): value is string => typeof value === "string" && value !== ""

const hasRightType = (name: (typeof SIGNED_FIELDS)[number], value: unknown): boolean =>
  name === "cost_microcents" ? Number.isInteger(value) : isText(value)

const canonicalOf = (fields: Fields): string =>
  canonical({
    receipt_id: String(fields["receipt_id"]),
    tool_id: String(fields["tool_id"]),
    agent_id: String(fields["agent_id"]),
    provider_id: String(fields["provider_id"]),
    timestamp: String(fields["timestamp"]),
    cost_microcents: BigInt(fields["cost_microcents"] as number),
    status: String(fields["status"])
  })
