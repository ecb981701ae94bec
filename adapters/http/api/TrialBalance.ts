/**
 * The public books on the wire: the trial balance, and what it shares with the operator's solvency report.
 */
import { Schema } from "effect"
import * as Field from "./Field.ts"
import { answeredAt } from "./SharedFields.ts"

export const solvencyFields = {
  unbacked_microcents: Field.signedMicrocents(
    "Spendable funds without backing (other than 0 only by a fault of the service)",
    0
  ),
  shortfall_microcents: Field.signedMicrocents("Recorded losses that the operator has not funded yet", 0)
}

export const TrialBalance = Field.object("TrialBalance", "Credits and debits by type of account.", {
  accounts: Field.list(
    Schema.Struct({
      account: Field.string("Type of the accounts.", "wallet"),
      credits_microcents: Field.signedMicrocents("Total credits", 5_000_000),
      debits_microcents: Field.signedMicrocents("Total debits", 602_000),
      balance_microcents: Field.signedMicrocents("Credits less debits", 4_398_000)
    }),
    "Totals by type of account."
  ),
  total_credits_microcents: Field.signedMicrocents("Total credits of all accounts", 5_602_000),
  total_debits_microcents: Field.signedMicrocents("Total debits of all accounts", 5_602_000),
  balanced: Field.boolean("Whether total credits equal total debits."),
  ...solvencyFields,
  timestamp: answeredAt
})
