/**
 * What a LedgerStore and the calls beside it must sum up to. The rule needs an empty ledger of its own.
 */
import assert from "node:assert/strict"
import { Effect } from "effect"
import { Ledger } from "../../../domain/ledger/Ledger.ts"
import { CallStore } from "../../../domain/metering/CallStore.ts"
import type { Contract } from "../shared/Contract.ts"
import { aCall, type Books, callRule, closingOf, opened, settled } from "../shared/CallSamples.ts"
import { consumerWith, payoutLeg } from "../shared/LedgerSamples.ts"

export const trialBalanceContract: Contract<Books> = [
  callRule(
    "has totals per account that sum to zero, and an audit without discrepancies",
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const calls = yield* CallStore
      const { solvency: atFirst, ...empty } = yield* ledger.trialBalance
      assert.deepEqual(empty, { accounts: [], credits: 0n, debits: 0n, balanced: true })
      assert.deepEqual([atFirst.spendableMicrocents, atFirst.unbackedMicrocents], [0n, 0n])
      assert.deepEqual(yield* ledger.audit, { transfers: 0, accounts: 0, openCalls: 0, discrepancies: [] })

      const consumerId = yield* consumerWith(10_000)
      const call = yield* aCall(consumerId)
      yield* settled(call)
      const open = yield* aCall(consumerId)
      yield* opened(open)
      yield* ledger.post({ reference: "payout", legs: [payoutLeg(call.providerId, 400)] })
      assert.deepEqual(yield* ledger.trialBalance, {
        accounts: [
          { account: "wallet", credits: 10_000n, debits: 1_000n, overdrawn: 0n },
          { account: "provider", credits: 900n, debits: 400n, overdrawn: 0n },
          { account: "platform_fee", credits: 100n, debits: 0n, overdrawn: 0n },
          { account: "processor", credits: 0n, debits: 10_000n, overdrawn: 10_000n },
          { account: "load_clearing", credits: 10_000n, debits: 10_000n, overdrawn: 0n },
          { account: "payout_clearing", credits: 400n, debits: 0n, overdrawn: 0n }
        ],
        credits: 21_400n,
        debits: 21_400n,
        balanced: true,
        solvency: {
          spendableMicrocents: 10_000n,
          receivedMicrocents: 10_000n,
          sentMicrocents: 0n,
          recordedLossesMicrocents: 0n,
          shortfallMicrocents: 0n,
          unbackedMicrocents: 0n,
          platformFundsMicrocents: 100n
        }
      })
      assert.deepEqual(yield* ledger.audit, { transfers: 5, accounts: 6, openCalls: 1, discrepancies: [] })
      yield* calls.close(yield* closingOf(open))
      assert.partialDeepStrictEqual(yield* ledger.audit, { transfers: 7, openCalls: 0, discrepancies: [] })
    })
  )
]
