/**
 * Every balance is backed: balances are at most the money received minus the money sent, by the processor's records, minus
 * explained losses. See `ProcessorBooks`.
 */
import { Context, Effect } from "effect"
import { LedgerStore } from "../../../domain/ledger/LedgerStore.ts"
import { ConsumerId, ProviderId } from "../../../domain/shared/Ids.ts"
import { wrong } from "../world/Asking.ts"
import { makeProcessorBooks } from "./ProcessorBooks.ts"
import { makeFeesKnown } from "./ProcessorFees.ts"
import type { World } from "../world/World.ts"

export const makeSolvencyCheck = (world: World) => {
  const { facts, stores } = world
  const ledger = Context.get(stores, LedgerStore)
  const books = makeProcessorBooks(world)
  const feesKnown = makeFeesKnown(world)

  /** Lot by lot: what is below zero hides nothing that is above it. */
  const providerBalances = Effect.gen(function* () {
    let sum = 0n
    for (const id of facts.providers.map((one) => ProviderId.make(one.id))) {
      for (const { credits, debits } of yield* ledger.lots(id)) sum += positive(credits - debits)
      const frozen = yield* ledger.balance("provider_frozen", id)
      sum += positive(frozen.credits - frozen.debits)
    }
    return sum
  })

  /** Each consumer's debt counts as far as money of its own loads went back. */
  const explainedLosses = Effect.gen(function* () {
    let sum = 0n
    for (const { id } of facts.consumers) {
      const { owedMicrocents } = yield* ledger.funds(ConsumerId.make(id))
      if (owedMicrocents > 0n)
        sum += least(
          owedMicrocents,
          books.everGoneBack((one) => one === id)
        )
    }
    return sum
  })

  return Effect.gen(function* () {
    const totals = new Map<string, bigint>(
      (yield* ledger.totals).map(({ account, credits, debits }) => [account, credits - debits])
    )
    const own = OWN_ACCOUNTS.reduce((sum, account) => sum + positive(totals.get(account)), 0n)
    const balances = positive(totals.get("wallet")) + own + (yield* providerBalances) - (yield* books.outUnknown)
    const { sum: fees } = yield* feesKnown
    const net = books.net() - fees
    const losses = (yield* explainedLosses) + least(positive(-(totals.get("loss") ?? 0n)), fees)
    const unbacked = balances - net - losses
    if (unbacked > 0n) {
      return yield* wrong(
        "every balance is backed",
        `${unbacked} are not: balances of ${balances}, ${net} at the processor, ${losses} lost`
      )
    }
  })
}

const positive = (balance = 0n): bigint => (balance > 0n ? balance : 0n)

const least = (one: bigint, other: bigint): bigint => (one < other ? one : other)

const OWN_ACCOUNTS = ["platform_fee", "load_clearing", "payout_clearing", "refund_clearing", "dispute_clearing"]
