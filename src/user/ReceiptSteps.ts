/**
 * What the offline verification of a receipt checked, one step after the other, and which step failed.
 */
import type { ReceiptVerdict } from "../../adapters/site/verify/ReceiptVerifier.browser.ts"
import { safeLine } from "./SafeText.ts"

export interface Step {
  readonly step: "key" | "receipt" | "proof" | "signature" | "inclusion"
  readonly state: "passed" | "failed" | "not_checked"
  readonly says: string
}

/** In the order in which the verifier works. */
const CHECKS: ReadonlyArray<readonly [Step["step"], says: string, reasons: ReadonlyArray<ReceiptVerdict["reason"]>]> = [
  ["key", "The key is the public key of a log.", ["bad_key", "unsupported"]],
  ["receipt", "The receipt has exactly the eleven fields of a receipt.", ["bad_receipt"]],
  ["proof", "The proof is from the log of this key.", ["bad_proof", "wrong_log"]],
  ["signature", "The log signed its checkpoint.", ["bad_signature", "wrong_checkpoint", "witness_missing"]],
  ["inclusion", "The receipt is in the signed tree, unchanged.", ["not_in_tree"]]
]

export const stepsOf = (verdict: ReceiptVerdict): ReadonlyArray<Step> => {
  const failedAt = verdict.valid ? CHECKS.length : CHECKS.findIndex(([, , reasons]) => reasons.includes(verdict.reason))
  return CHECKS.map(([step, says], index) => {
    if (index < failedAt) return { step, state: "passed", says }
    if (index > failedAt || verdict.valid) return { step, state: "not_checked", says }
    return { step, state: "failed", says: verdict.message }
  })
}

const MARKS: Readonly<Record<Step["state"], string>> = { passed: "ok", failed: "FAILED", not_checked: "-" }

export const stepLine = ({ says, state, step }: Step): string =>
  `${MARKS[state].padEnd(6)}  ${step.padEnd(9)}  ${safeLine(says)}`
