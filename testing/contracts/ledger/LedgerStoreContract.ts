/**
 * What a LedgerStore must do, through the Ledger. It needs no other store: neither accounts nor calls.
 */
import type { Contract } from "../shared/Contract.ts"
import { postings } from "./LedgerPostings.ts"
import { references } from "./LedgerReferences.ts"
import type { LedgerStores } from "../shared/LedgerSamples.ts"
import { unitsOfWork } from "./LedgerUnits.ts"

export const ledgerStoreContract: Contract<LedgerStores> = [...postings, ...references, ...unitsOfWork]
