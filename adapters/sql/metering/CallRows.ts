/** Parameters and results of one call in the functions of migrations/ledger, alone or in a batch. */
import { resetsAt } from "../../../domain/ledger/BudgetPeriod.ts"
import type { OpenCall, Opened } from "../../../domain/metering/CallStore.ts"
import { Microcents } from "../../../domain/shared/Microcents.ts"
import { PERIOD_CODE, receiptOfUuid, wordOf } from "../ledger/LedgerCodes.ts"

const INT4_MAX = 2_147_483_647
export const REPLAY = 4

export interface OpenRow {
  readonly code: number
  readonly amount: bigint
  readonly freeLeft: number | null
  readonly available: bigint
  readonly detail: string | null
  readonly body: Uint8Array | null
}

export const openedAs = (call: OpenCall, row: OpenRow): Opened => {
  switch (row.code) {
    case 2:
      return { _tag: "InsufficientFunds", availableMicrocents: row.available, neededMicrocents: call.holdAmount }
    case 3:
      return budgetExceeded(call, row.detail!)
    case REPLAY:
      return {
        _tag: "Replay",
        answer: {
          status: Number(row.amount),
          headers: JSON.parse(row.detail!),
          body: Buffer.from(row.body!).toString("utf8")
        }
      }
    case 5:
      return { _tag: "IdempotencyConflict" }
    case 6:
      return { _tag: "InFlight", invocationId: receiptOfUuid(row.detail!) }
    case 7:
      return { _tag: "AccountFrozen" }
    default:
      return {
        _tag: "Opened",
        held: Microcents.make(row.amount),
        free: row.code === 1,
        // In a batch with calls that have a free tier, the function returns 0 for calls without one.
        freeCallsLeft: call.freeTierCalls === 0 ? undefined : (row.freeLeft ?? undefined),
        availableMicrocents: row.available
      }
  }
}

/** Counts that a provider reports are capped at the maximum of int4. */
export const count = (n: number): number => (n > 0 ? Math.min(Math.trunc(n), INT4_MAX) : 0)

export const hexOrNull = (hex: string | undefined): Uint8Array | null =>
  hex === undefined ? null : Buffer.from(hex, "hex")

const budgetExceeded = (call: OpenCall, detail: string): Opened => {
  const budget: { readonly id: string; readonly cap: string; readonly left: string; readonly period: number } =
    JSON.parse(detail)
  return {
    _tag: "BudgetExceeded",
    budgetId: budget.id,
    capMicrocents: BigInt(budget.cap),
    leftMicrocents: BigInt(budget.left),
    resetsAt: resetsAt(wordOf(PERIOD_CODE, budget.period), call.openedAt)
  }
}
