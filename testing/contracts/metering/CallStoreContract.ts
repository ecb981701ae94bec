/**
 * What a CallStore must do, together with the stores that share its money: a call reserves from the wallet, free tier and
 * budgets of the ledger, and closes into it.
 */
import type { Contract } from "../shared/Contract.ts"
import { budgetsOfCalls } from "./CallBudgets.ts"
import { closings } from "./CallClosings.ts"
import { freeTiersOfCalls } from "./CallFreeTiers.ts"
import { keysOfCalls } from "./CallKeys.ts"
import { openings } from "./CallOpenings.ts"
import type { Books } from "../shared/CallSamples.ts"
import { suspensionsOfCalls } from "./CallSuspensions.ts"
import { postingsBesideCalls } from "../ledger/LedgerBesideCalls.ts"

export const callStoreContract: Contract<Books> = [
  ...openings,
  ...closings,
  ...freeTiersOfCalls,
  ...keysOfCalls,
  ...budgetsOfCalls,
  ...suspensionsOfCalls,
  ...postingsBesideCalls
]
