/**
 * What a PayeeStore must do.
 */
import { DateTime, Effect, Option } from "effect"
import assert from "node:assert/strict"
import type { AccountStore } from "../../../domain/accounts/Account.ts"
import { PayeeStore } from "../../../domain/earnings/PayoutStore.ts"
import { aProvider } from "../shared/AccountSamples.ts"
import { type Contract, rule } from "../shared/Contract.ts"

const at = (minute: number) => DateTime.makeUnsafe(Date.UTC(2026, 10, 20, 12, minute))

export const payeeStoreContract: Contract<AccountStore | PayeeStore> = [
  rule(
    "stores the payout account and automatic payouts in either order",
    Effect.gen(function* () {
      const store = yield* PayeeStore
      const [one, two] = [(yield* aProvider()).id, (yield* aProvider()).id]
      const status = {
        accountId: `acct_${one}`,
        status: "pending" as const,
        chargesEnabled: false,
        payoutsEnabled: false,
        detailsSubmitted: false,
        currentlyDue: ["external_account"],
        eventuallyDue: [],
        errors: []
      }
      assert.deepEqual(yield* store.find(one), Option.none())
      yield* store.putAutomatic(one, true, at(0))
      yield* store.putStatus(one, status, at(1))
      yield* store.putStatus(two, { ...status, accountId: `acct_${two}` }, at(1))
      yield* store.putAutomatic(two, true, at(2))
      const payee = { providerId: one, status, automatic: true, reserveLifted: false, updatedAt: at(1) }
      assert.deepEqual(yield* store.find(one), Option.some(payee))
      assert.deepEqual(yield* store.findByAccount(`acct_${one}`), Option.some(payee))
      const wanting = (yield* store.automatic(undefined, 1_000)).filter((id) => id === one || id === two)
      assert.deepEqual(wanting, [one, two].toSorted())
      assert.deepEqual(yield* store.automatic(wanting.at(-1), 1_000), [])
      yield* store.putReserveLifted(one, true, at(2))
      assert.deepEqual(yield* store.find(one), Option.some({ ...payee, reserveLifted: true, updatedAt: at(2) }))
      yield* store.putAutomatic(one, false, at(3))
      assert.equal((yield* store.automatic(undefined, 1_000)).includes(one), false)
    })
  )
]
