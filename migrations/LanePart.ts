/**
 * The lane part of the schema: the tables that one call reads or writes, and the functions that open and close calls.
 */
import { Effect } from "effect"
import { budgets } from "./lane/Budgets.ts"
import { calls } from "./lane/Calls.ts"
import { earnings } from "./lane/Earnings.ts"
import { ledger } from "./lane/Ledger.ts"
import { lostCalls } from "./lane/LostCalls.ts"
import { receipts } from "./lane/Receipts.ts"
import { usage } from "./lane/Usage.ts"
import { closeCalls } from "./ledger/CloseCalls.ts"
import { openCalls } from "./ledger/OpenCalls.ts"
import { suspendCalls } from "./ledger/SuspendCalls.ts"

export const lanePart = Effect.all(
  [ledger, calls, receipts, lostCalls, usage, earnings, budgets, openCalls, closeCalls, suspendCalls],
  {
    discard: true
  }
)
