/**
 * What every test of money checks at its end: the ledger balances, and no money is left in transit.
 */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { Ledger } from "../../domain/ledger/Ledger.ts"

/** Of the platform's own accounts, by kind. */
export const balances = Effect.gen(function* () {
  const { accounts, balanced } = yield* (yield* Ledger).trialBalance
  assert.isTrue(balanced)
  return Object.fromEntries(accounts.map(({ account, credits, debits }) => [account, credits - debits]))
})

export const clearingIsEmpty = Effect.gen(function* () {
  const totals = yield* balances
  for (const account of ["load_clearing", "refund_clearing", "dispute_clearing", "payout_clearing"]) {
    assert.strictEqual(totals[account] ?? 0n, 0n, account)
  }
  assert.deepStrictEqual((yield* (yield* Ledger).audit).discrepancies, [])
})
