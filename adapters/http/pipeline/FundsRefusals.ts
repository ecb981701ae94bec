/**
 * What the operator is told when money cannot move as asked.
 */
import type { DuplicateReference } from "../../../domain/ledger/LedgerStore.ts"
import type { FundsTooLow, NoSuchLoss } from "../../../domain/ledger/PlatformFunds.ts"
import { toCents } from "../../../domain/shared/Microcents.ts"
import type { ProblemTable } from "./Problems.ts"

export type FundsRefusal = DuplicateReference | FundsTooLow | NoSuchLoss

export const fundsMapping: ProblemTable<FundsRefusal> = {
  DuplicateReference: () => ({ status: 409, code: "DUPLICATE" }),
  FundsTooLow: (e) => ({
    status: 409,
    code: "INSUFFICIENT_PLATFORM_FUNDS",
    extra: {
      needed_microcents: Number(e.neededMicrocents),
      platform_funds_microcents: Number(e.availableMicrocents),
      platform_funds_cents: toCents(e.availableMicrocents)
    }
  }),
  NoSuchLoss: (e) => ({
    status: 422,
    code: "VALIDATION_ERROR",
    details: [{ path: ["amount_cents"], message: e.message }]
  })
}
