/**
 * What a caller pays that cancels a forwarded call or disconnects. A provider sends two fields; together they are one
 * of the terms: `free` (the cancellation is passed to the provider and the call costs nothing), `outcome` (the call
 * runs to its end and is billed by its outcome), or `price` (the cancellation is passed and the call costs its list
 * price).
 */
import type { ToolDeclaration } from "./Tool.ts"

export type CancellationTerm = "free" | "outcome" | "price"

type Cancellation = Pick<ToolDeclaration, "canceledCallCosts" | "onCancel">

export const cancellationTermOf = ({ canceledCallCosts, onCancel }: Cancellation): CancellationTerm => {
  if (onCancel === "finish") return "outcome"
  return canceledCallCosts === "price" ? "price" : "free"
}

/** The two fields of this term. */
export const cancellationOf = (leaving: CancellationTerm): Cancellation => ({
  onCancel: leaving === "outcome" ? "finish" : "pass",
  canceledCallCosts: leaving === "free" ? "nothing" : "price"
})
