/**
 * The lane part of the schema: the tables that one call reads or writes. The functions that open and close calls are those of
 * the newest migration that replaces them.
 */
import { Effect } from "effect"
import { budgets } from "./lane/Budgets.ts"
import { calls } from "./lane/Calls.ts"
import { ledger } from "./lane/Ledger.ts"
import { lostCalls } from "./lane/LostCalls.ts"
import { receipts } from "./lane/Receipts.ts"
import { usage } from "./lane/Usage.ts"
import { callTypes } from "./ledger/CallTypes.ts"

export const lanePart = Effect.all([ledger, calls, receipts, lostCalls, usage, budgets, callTypes], {
  discard: true
})
