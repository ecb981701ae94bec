/**
 * Whether every balance is backed: what can be spent or withdrawn is no more than the money that came in, less what went out,
 * by the processor's own books, and less losses that the processor's events explain. See `ProcessorBooks`.
 */
import { Context, Effect } from "effect"
import { LedgerStore } from "../../domain/ledger/LedgerStore.ts"
import { ProviderId } from "../../domain/shared/Ids.ts"
import { wrong } from "./Asking.ts"
import { makeProcessorBooks } from "./ProcessorBooks.ts"
import type { World } from "./World.ts"

export const makeSolvencyCheck = (world: World) => {
  const { facts, stores } = world
  const ledger = Context.get(stores, LedgerStore)
  const books = makeProcessorBooks(world)

  /** One by one: what one provider owes is no money of another. */
  const providerBalances = Effect.gen(function* () {
    let sum = 0n
    for (const { id } of facts.providers) {
      const { credits, debits } = yield* ledger.provider(ProviderId.make(id))
      if (credits > debits) sum += credits - debits
    }
    return sum
  })

  return Effect.gen(function* () {
    const totals = new Map<string, bigint>(
      (yield* ledger.totals).map(({ account, credits, debits }) => [account, credits - debits])
    )
    const own = OWN_ACCOUNTS.reduce((sum, account) => sum + positive(totals.get(account)), 0n)
    const balances = positive(totals.get("wallet")) + own + (yield* providerBalances) - (yield* books.outUnknown)
    const recorded = DEBTS.reduce((sum, account) => sum - (totals.get(account) ?? 0n), 0n)
    const losses = recorded < books.lossesMax() ? recorded : books.lossesMax()
    const unbacked = balances - books.net() - losses
    if (unbacked > 0n) {
      return yield* wrong(
        "every balance is backed",
        `${unbacked} are not: balances of ${balances}, ${books.net()} at the processor, ${losses} of ${recorded} lost`
      )
    }
  })
}

const positive = (balance = 0n): bigint => (balance > 0n ? balance : 0n)

const OWN_ACCOUNTS = [
  "platform_fee",
  "promo",
  "adjustment",
  "load_clearing",
  "payout_clearing",
  "refund_clearing",
  "dispute_clearing"
]

/** Below zero as far as money was lost, and may be paid back. */
const DEBTS = ["consumer_debt", "loss"]
