/**
 * Assertions on all money of a market, for the end of a test.
 */
import assert from "node:assert/strict"
import { Effect } from "effect"
import { Ledger } from "../domain/ledger/Ledger.ts"

/** Debits equal credits, and every balance is the total of its transfers. */
export const assertBalanced = Effect.gen(function* () {
  const ledger = yield* Ledger
  const { credits, debits } = yield* ledger.trialBalance
  assert.equal(credits, debits, "The debits of the ledger differ from its credits")
  const { discrepancies } = yield* ledger.audit
  assert.deepEqual(discrepancies, [], "Balances differ from the totals of their transfers")
})

/** All money that can be spent or withdrawn was received, and recorded losses are covered. */
export const assertSolvent = Effect.gen(function* () {
  const { solvency } = yield* (yield* Ledger).trialBalance
  assert.equal(solvency.unbackedMicrocents, 0n, "Money can be spent or withdrawn that was never received")
  assert.equal(solvency.shortfallMicrocents, 0n, "Recorded losses are not covered")
})
