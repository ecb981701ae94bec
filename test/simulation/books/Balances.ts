/**
 * Rules of money: every account matches the documents, transfers sum to zero, no wallet is negative, holds are those of open
 * calls, and clearing accounts contain only what is pending.
 */
import { Context, DateTime, Effect } from "effect"
import { BudgetStore } from "../../../domain/ledger/Budgets.ts"
import { LedgerStore } from "../../../domain/ledger/LedgerStore.ts"
import { GrantStore } from "../../../domain/metering/Grants.ts"
import { ConsumerId, ProviderId } from "../../../domain/shared/Ids.ts"
import { UnitOfWork } from "../../../domain/shared/StoreUnavailable.ts"
import { wrong } from "../world/Asking.ts"
import type { Balances, Books } from "./Books.ts"
import type { World } from "../world/World.ts"

export const makeBalanceChecks = ({ facts, stores }: World, books: Books) => {
  const ledger = Context.get(stores, LedgerStore)
  const budgets = Context.get(stores, BudgetStore)
  const grants = Context.get(stores, GrantStore)
  const { atomically } = Context.get(stores, UnitOfWork)

  const accountsAreExplained = Effect.fnUntraced(function* (expected: Balances) {
    for (const id of facts.consumers.map((one) => ConsumerId.make(one.id))) {
      const { credits, debits, held } = yield* ledger.wallet(id)
      const { owedMicrocents } = yield* ledger.funds(id)
      if (held < 0n || credits - debits - held < 0n) {
        return yield* wrong("no wallet below zero", `${id}: ${credits} - ${debits} - ${held}`)
      }
      yield* same(`wallet of ${id}`, credits - debits - owedMicrocents, expected.get(id))
      let holds = 0n
      for (const { call, held: each } of facts.pending.values()) if (call.consumerId === id) holds += each
      yield* same(`holds of ${id}`, held, holds)
    }
    for (const id of facts.providers.map((one) => ProviderId.make(one.id))) {
      const lots = yield* ledger.balance("provider", id)
      const frozen = yield* ledger.balance("provider_frozen", id)
      const found = lots.credits - lots.debits + frozen.credits - frozen.debits
      yield* same(`account of provider ${id}`, found, expected.get(id))
    }
  })

  const totalsAreExplained = Effect.fnUntraced(function* (expected: Balances) {
    const totals = yield* ledger.totals
    const sum = totals.reduce((all, { credits, debits }) => all + credits - debits, 0n)
    if (sum !== 0n) return yield* wrong("transfers sum to zero", `they sum to ${sum}`)
    const balances = new Map<string, bigint>(totals.map(({ account, credits, debits }) => [account, credits - debits]))
    for (const account of OWN_ACCOUNTS) yield* same(account, balances.get(account) ?? 0n, expected.get(account))
    // What platform funds could not pay of the processor's fees is a recorded loss: see `Solvency`.
    const platform = (balances.get("platform_fee") ?? 0n) + (balances.get("loss") ?? 0n)
    yield* same("platform funds less losses", platform, expected.get("platform_fee"))
  })

  const budgetsHold = Effect.gen(function* () {
    const now = yield* DateTime.now
    for (const { id } of facts.consumers) {
      for (const { cap, heldMicrocents, id: budget, spentMicrocents } of yield* budgets.list(
        ConsumerId.make(id),
        now
      )) {
        if (spentMicrocents + heldMicrocents > cap) {
          return yield* wrong("budgets hold", `${budget}: ${spentMicrocents} and ${heldMicrocents} of ${cap}`)
        }
      }
    }
  })

  const grantsHold = Effect.gen(function* () {
    for (const consumerId of new Set(facts.granted.map(({ consumer }) => ConsumerId.make(consumer.id)))) {
      for (const { cap, id, spent } of yield* atomically(grants.ofConsumer(consumerId, yield* DateTime.now))) {
        if (spent > cap || spent < 0n) return yield* wrong("grants hold", `${id}: ${spent} of ${cap}`)
      }
    }
  })

  return Effect.gen(function* () {
    const expected = yield* books.expected
    yield* accountsAreExplained(expected)
    yield* totalsAreExplained(expected)
    yield* budgetsHold
    yield* grantsHold
  })
}

/** The clearing accounts of loads and disputes are never seen with anything in them. */
const OWN_ACCOUNTS = ["processor", "payout_clearing", "load_clearing", "refund_clearing", "dispute_clearing"]

const same = (account: string, found: bigint, expected = 0n) =>
  found === expected ? Effect.void : wrong("balances are explained", `${account}: ${found}, by documents ${expected}`)
