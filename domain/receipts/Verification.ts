/**
 * What can be said of a receipt without its key, and the verdict with it. Reports the first reason that applies.
 */
import { isReceiptId } from "../shared/Ids.ts"
import { canonical, SIGNATURE, SIGNED_FIELDS } from "./Receipt.ts"

/** The checks in the order in which they are made; `ok` if all passed. */
export type VerificationReason =
  | "missing_fields"
  | "ambiguous_fields"
  | "bad_receipt_id"
  | "bad_signature_format"
  | "signature_mismatch"
  | "ok"

/** Whether a receipt's signature is genuine and, if not, the first reason. */
export interface Verdict {
  readonly valid: boolean
  readonly reason: VerificationReason
  /** In signed order, then `signature`; only with `missing_fields`. */
  readonly missing: ReadonlyArray<string> | undefined
  /** Empty unless all seven signed fields have the right type. */
  readonly canonical: string
}

export type Examined =
  | { readonly _tag: "Rejected"; readonly verdict: Verdict }
  /** Only the signature is left to check. */
  | { readonly _tag: "Signed"; readonly canonical: string; readonly signature: string }

/** Accepts any value and never throws. The cost may be a bigint, as in `Receipt`, or a number, as in JSON. */
export const examineReceipt = (candidate: unknown): Examined => {
  const fields = fieldsOf(candidate)
  const missing = SIGNED_FIELDS.filter((name) => !hasRightType(name, fields[name])) as Array<string>
  const signature = fields["signature"]
  const text = missing.length > 0 ? "" : canonicalOf(fields)
  if (!isText(signature)) missing.push("signature")
  const rejected = (reason: VerificationReason): Examined => ({
    _tag: "Rejected",
    verdict: { valid: false, reason, missing: reason === "missing_fields" ? missing : undefined, canonical: text }
  })
  if (missing.length > 0 || !isText(signature)) return rejected("missing_fields")
  if (SIGNED_FIELDS.some((name) => String(fields[name]).includes("|"))) return rejected("ambiguous_fields")
  if (!isReceiptId(String(fields["receipt_id"]))) return rejected("bad_receipt_id")
  if (!SIGNATURE.test(signature)) return rejected("bad_signature_format")
  return { _tag: "Signed", canonical: text, signature }
}

export const verdictOf = (text: string, genuine: boolean): Verdict => ({
  valid: genuine,
  reason: genuine ? "ok" : "signature_mismatch",
  missing: undefined,
  canonical: text
})

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
  name === "cost_microcents" ? typeof value === "bigint" || Number.isInteger(value) : isText(value)

const canonicalOf = (fields: Fields): string =>
  canonical({
    receipt_id: String(fields["receipt_id"]),
    tool_id: String(fields["tool_id"]),
    agent_id: String(fields["agent_id"]),
    provider_id: String(fields["provider_id"]),
    timestamp: String(fields["timestamp"]),
    cost_microcents: BigInt(fields["cost_microcents"] as bigint | number),
    status: String(fields["status"])
  })
