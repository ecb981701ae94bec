/**
 * Counts payments whose amount or currency is not the one of their load.
 */
import { Context } from "effect"

/** Mismatched payments since the service started. */
export interface MismatchTally {
  count(): void
  readonly mismatched: number
}

export const makeMismatchTally = (): MismatchTally => {
  let mismatched = 0
  return {
    count: () => {
      mismatched++
    },
    get mismatched() {
      return mismatched
    }
  }
}

const UNCOUNTED: MismatchTally = { count: () => {}, mismatched: 0 }

/** Counts nothing by default; `core` has its own. */
export const MismatchTally = Context.Reference<MismatchTally>("agent-tool-billing/domain/payments/MismatchTally", {
  defaultValue: () => UNCOUNTED
})
