/**
 * The lane part of the schema: the tables that one call reads or writes, and the functions that open and close calls.
 */
import { Effect } from "effect"
import { budgets } from "./lane/Budgets.ts"
import { calls } from "./lane/Calls.ts"
import { ledger } from "./lane/Ledger.ts"
import { receipts } from "./lane/Receipts.ts"
import { usage } from "./lane/Usage.ts"
import { closeCalls } from "./ledger/CloseCalls.ts"
import { closeOneCall } from "./ledger/CloseOneCall.ts"
import { openCalls } from "./ledger/OpenCalls.ts"
import { openOneCall } from "./ledger/OpenOneCall.ts"
import { settleCalls } from "./ledger/SettleCalls.ts"

const callFunctions = [openCalls, openOneCall, closeCalls, closeOneCall, settleCalls]

export const lanePart = Effect.all([ledger, calls, receipts, usage, budgets, ...callFunctions], { discard: true })
