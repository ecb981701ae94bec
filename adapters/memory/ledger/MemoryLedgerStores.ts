/**
 * The ledger, paid funds and budgets on plain Maps. A posting is one step. A failed unit of work subtracts what the posting
 * added.
 */
import { DateTime, Effect, Layer, Option } from "effect"
import { isSameBook, WrongBook } from "../../../domain/ledger/Book.ts"
import {
  type Budget,
  type BudgetId,
  type BudgetStatus,
  BudgetStore,
  inPeriodOf
} from "../../../domain/ledger/Budgets.ts"
import {
  type AccountTotals,
  type Audit,
  type ConsumerFunds,
  DISCREPANCIES_SHOWN_MAX,
  type Discrepancy,
  DuplicateReference,
  InsufficientBalance,
  LedgerStore
} from "../../../domain/ledger/LedgerStore.ts"
import {
  bringsCredit,
  PaidFunds,
  paidPartAt,
  splitAfter,
  splitAt,
  splitConsumers
} from "../../../domain/ledger/PaidFunds.ts"
import {
  type AccountChange,
  AccountKind,
  availableIn,
  type Balance,
  callOfTransfer,
  changesOf,
  isBounded,
  type Lot,
  type Posting,
  sameContent,
  type Transfer,
  transfersOfCall
} from "../../../domain/ledger/Transfer.ts"
import type { ConsumerId } from "../../../domain/shared/Ids.ts"
import { oldestFirst } from "../shared/MemoryRows.ts"
import { put, remove, write } from "../shared/MemoryUnitOfWork.ts"
import {
  balanceKey,
  balanceRowOf,
  type BudgetRow,
  type ClosedCallRow,
  lotsOf,
  MemoryLedger,
  walletOf
} from "./MemoryLedger.ts"

type State = MemoryLedger["Service"]

const budgetStore = Layer.effect(
  BudgetStore,
  Effect.gen(function* () {
    const { budgets } = yield* MemoryLedger
    return BudgetStore.of({
      create: (budget, most) =>
        Effect.suspend(() => {
          const own = budgets.get(budget.consumerId) ?? new Map<BudgetId, BudgetRow>()
          const ofLevel = [...own.values()].filter(({ levelId }) => levelId === budget.levelId)
          if (ofLevel.length >= most) return Effect.succeed(false)
          budgets.set(budget.consumerId, own)
          return Effect.as(put(own, budget.id, newRow(budget)), true)
        }),
      replace: (consumerId, levelId, wanted) =>
        Effect.suspend(() => {
          const own = budgets.get(consumerId) ?? new Map<BudgetId, BudgetRow>()
          budgets.set(consumerId, own)
          const ofLevel = [...own.values()].filter((row) => row.levelId === levelId)
          const kept = (row: BudgetRow) => wanted.some(({ period }) => period === row.period)
          return Effect.andThen(
            Effect.forEach(
              ofLevel.filter((row) => !kept(row)),
              (row) => remove(own, row.id)
            ),
            Effect.forEach(
              wanted,
              (budget) => {
                const row = ofLevel.find(({ period }) => period === budget.period)
                return row === undefined ? put(own, budget.id, newRow(budget)) : changeCap(row, budget.cap)
              },
              { discard: true }
            )
          )
        }),
      changeCap: (consumerId, id, cap) =>
        Effect.suspend(() => {
          const budget = budgets.get(consumerId)?.get(id)
          if (budget === undefined || budget.levelId !== undefined) return Effect.succeed(false)
          return Effect.as(changeCap(budget, cap), true)
        }),
      remove: (consumerId, id) =>
        Effect.suspend(() => {
          const own = budgets.get(consumerId)
          const budget = own?.get(id)
          if (own === undefined || budget === undefined || budget.levelId !== undefined) return Effect.succeed(false)
          return Effect.as(remove(own, id), true)
        }),
      list: (consumerId, now) =>
        Effect.sync(() =>
          [...(budgets.get(consumerId)?.values() ?? [])]
            .filter(({ levelId }) => levelId === undefined)
            .toSorted(oldestFirst((budget) => budget.createdAt))
            .map((budget) => statusOf(budget, now))
        ),
      ofLevels: (consumerId, levels, now) =>
        Effect.sync(() =>
          [...(budgets.get(consumerId)?.values() ?? [])]
            .filter(({ levelId }) => levelId !== undefined && levels.includes(levelId))
            .toSorted(oldestFirst((budget) => budget.createdAt))
            .map((budget) => statusOf(budget, now))
        )
    })
  })
)

const changeCap = (budget: BudgetRow, cap: BudgetRow["cap"]) =>
  write(
    () => {
      const before = budget.cap
      budget.cap = cap
      return before
    },
    (before) => {
      budget.cap = before
    }
  )

const newRow = (budget: Budget): BudgetRow => ({
  ...budget,
  spent: 0n,
  held: 0n,
  periodStartMs: budget.createdAt.epochMilliseconds
})

const statusOf = (row: BudgetRow, now: DateTime.Utc): BudgetStatus => {
  const { held: _, periodStartMs: __, spent: ___, ...budget } = row
  const { held, spent } = inPeriodOf(row, now)
  return { ...budget, spentMicrocents: spent, heldMicrocents: held }
}

// Totals of the memory ledger: as stored, and recomputed from every transfer and open call.

const ofCall = (call: ClosedCallRow | undefined): ReadonlyArray<Transfer> =>
  call === undefined
    ? []
    : transfersOfCall({
        receiptId: call.receipt.receipt_id,
        consumerId: call.consumerId,
        providerId: call.receipt.provider_id,
        cost: call.receipt.cost_microcents,
        fee: call.fee,
        calledAt: DateTime.makeUnsafe(call.receipt.timestamp),
        settledAt: DateTime.makeUnsafe(call.receipt.created_at)
      })

const everyTransfer = function* (state: State): Generator<Transfer> {
  for (const transfers of state.transfers.values()) yield* transfers
  for (const call of state.closedCalls.values()) yield* ofCall(call)
}

const totalsOf = (state: State): ReadonlyArray<AccountTotals> => {
  const rows: Array<Balance & { readonly account: AccountKind }> = [...state.balances.values()]
  for (const wallet of state.wallets.values()) rows.push({ account: "wallet", ...wallet })
  return AccountKind.literals.flatMap((account) => {
    const ofKind = rows.filter((row) => row.account === account)
    const total = (of: (row: Balance) => bigint): bigint => ofKind.reduce((sum, row) => sum + of(row), 0n)
    const credits = total((row) => row.credits)
    const debits = total((row) => row.debits)
    const overdrawn = total((row) => (row.debits > row.credits ? row.debits - row.credits : 0n))
    return credits === 0n && debits === 0n ? [] : [{ account, credits, debits, overdrawn }]
  })
}

interface Place {
  readonly account: AccountKind
  readonly ownerId: string
  readonly lot: string | undefined
}

interface Figures extends Balance, Place {
  readonly held: bigint
}

const nameOf = ({ account, lot, ownerId }: Place): string => `${ownerId} ${account} ${lot ?? ""}`

const auditOf = (state: State): Audit => {
  const kept = new Map<string, Figures>()
  for (const [ownerId, wallet] of state.wallets) {
    const place: Place = { account: "wallet", ownerId, lot: undefined }
    kept.set(nameOf(place), { ...place, ...wallet })
  }
  for (const row of state.balances.values()) kept.set(nameOf(row), { ...row, held: 0n })

  const recomputed = new Map<string, Figures>()
  const add = (place: Place, more: Balance & { readonly held: bigint }) => {
    const name = nameOf(place)
    const sum = recomputed.get(name)
    recomputed.set(name, {
      ...place,
      credits: (sum?.credits ?? 0n) + more.credits,
      debits: (sum?.debits ?? 0n) + more.debits,
      held: (sum?.held ?? 0n) + more.held
    })
  }
  let transfers = 0
  for (const transfer of everyTransfer(state)) {
    transfers++
    for (const { account, credits, debits, lot, ownerId } of changesOf([transfer]))
      add({ account, ownerId, lot }, { credits, debits, held: 0n })
  }
  for (const { call, held } of state.openCalls.values())
    add({ account: "wallet", ownerId: call.consumerId, lot: undefined }, { credits: 0n, debits: 0n, held })

  const names = [...new Set([...kept.keys(), ...recomputed.keys()])].toSorted()
  const discrepancies = names.flatMap((name) => discrepanciesOf(kept.get(name), recomputed.get(name)))
  return {
    transfers,
    accounts: kept.size,
    openCalls: state.openCalls.size,
    discrepancies: discrepancies.slice(0, DISCREPANCIES_SHOWN_MAX)
  }
}

const discrepanciesOf = (kept: Figures | undefined, recomputed: Figures | undefined): ReadonlyArray<Discrepancy> => {
  const { account, lot, ownerId } = (kept ?? recomputed)!
  return (["credits", "debits", "held"] as const).flatMap((figure) => {
    const pair = { kept: kept?.[figure] ?? 0n, recomputed: recomputed?.[figure] ?? 0n }
    return pair.kept === pair.recomputed ? [] : [{ account, ownerId, lot, figure, ...pair }]
  })
}

export const ledgerStore = Layer.effect(
  LedgerStore,
  Effect.gen(function* () {
    const state = yield* MemoryLedger

    const byReference = (reference: string) => {
      const id = state.references.get(reference)
      return id === undefined ? [] : state.transfers.get(id)!
    }

    const post = Effect.fnUntraced(function* (posting: Posting) {
      const { book, transferId, reference, legs } = posting
      const found = state.book.current
      if (found !== undefined && !isSameBook(found, book)) return yield* new WrongBook({ found, own: book })
      const known = byReference(reference)
      if (known.length > 0) {
        if (!sameContent(legs, known)) return yield* new DuplicateReference({ reference })
        return { transferId: known[0]!.transferId, repeated: true }
      }
      const changes = changesOf(legs)
      for (const change of changes) {
        const available = availableTo(state, change)
        const { account, ownerId, credits, debits } = change
        if (isBounded(change) && available + credits < debits) {
          return yield* new InsufficientBalance({
            account,
            ownerId,
            availableMicrocents: available,
            neededMicrocents: debits - credits
          })
        }
      }
      yield* write(
        () => {
          state.book.current = book
          for (const change of changes) apply(state, change, 1n)
          const splits = recordSplits(state, posting)
          state.transfers.set(transferId, transfersOf(posting))
          state.references.set(reference, transferId)
          return splits
        },
        (splits) => {
          state.book.current = found
          for (const change of changes) apply(state, change, -1n)
          for (const [consumerId, before] of splits) state.splits.set(consumerId, before)
          state.transfers.delete(transferId)
          state.references.delete(reference)
        }
      )
      return { transferId, repeated: false }
    })

    return LedgerStore.of({
      post,
      book: Effect.sync(() => Option.fromNullishOr(state.book.current)),
      wallet: (consumerId) => Effect.sync(() => ({ ...(state.wallets.get(consumerId) ?? EMPTY_WALLET) })),
      funds: (consumerId) => Effect.sync(() => fundsOf(state, consumerId)),
      lockedFunds: (consumerId) => Effect.sync(() => fundsOf(state, consumerId)),
      lots: (providerId) =>
        Effect.sync(() =>
          [...lotsOf(state, providerId).values()]
            .filter(({ credits, debits }) => credits !== debits)
            .map(({ credits, debits, earned, lot }): Lot => ({ day: lot!, credits, debits, earned }))
            .toSorted((a, b) => (a.day < b.day ? -1 : 1))
        ),
      balance: (account, ownerId) =>
        Effect.sync(() => {
          const rows =
            account === "provider" ? [...lotsOf(state, ownerId).values()] : [balanceRowOf(state, account, ownerId)]
          return {
            credits: rows.reduce((sum, row) => sum + row.credits, 0n),
            debits: rows.reduce((sum, row) => sum + row.debits, 0n)
          }
        }),
      transfers: (id) =>
        Effect.sync(() => state.transfers.get(id) ?? ofCall(state.closedCalls.get(callOfTransfer(id)))),
      byReference: (reference) => Effect.sync(() => byReference(reference)),
      totals: Effect.sync(() => totalsOf(state)),
      audit: Effect.sync(() => auditOf(state))
    })
  })
)

const EMPTY_WALLET = { credits: 0n, debits: 0n, held: 0n }

const fundsOf = (state: State, consumerId: ConsumerId): ConsumerFunds => {
  const debt = state.balances.get(balanceKey("consumer_debt", consumerId))
  return {
    availableMicrocents: availableIn(state.wallets.get(consumerId) ?? EMPTY_WALLET),
    owedMicrocents: debt === undefined ? 0n : debt.debits - debt.credits
  }
}

const availableTo = (state: State, { account, lot, ownerId }: AccountChange): bigint => {
  if (account === "wallet") return availableIn(walletOf(state, ownerId as ConsumerId))
  const { credits, debits } = balanceRowOf(state, account, ownerId, lot)
  return credits - debits
}

const apply = (state: State, change: AccountChange, sign: 1n | -1n): void => {
  const row =
    change.account === "wallet"
      ? walletOf(state, change.ownerId as ConsumerId)
      : balanceRowOf(state, change.account, change.ownerId, change.lot)
  row.credits += sign * change.credits
  row.debits += sign * change.debits
}

const transfersOf = ({ legs, transferId, reference, effectiveAt, recordedAt }: Posting): ReadonlyArray<Transfer> =>
  legs.map((leg, i) => ({
    consumerId: undefined,
    providerId: undefined,
    lot: undefined,
    ...leg,
    transferId,
    leg: i + 1,
    reference,
    effectiveAt,
    recordedAt
  }))

const paidFunds = Layer.effect(
  PaidFunds,
  Effect.map(MemoryLedger, (state) =>
    PaidFunds.of({
      paid: (consumerId) => Effect.sync(() => lastSplit(state, consumerId).paid),
      paidOf: ({ consumerId, cost, receiptId }) =>
        Effect.sync(() => {
          const splits = state.splits.get(consumerId) ?? []
          if (splits.length === 0) return cost
          const call = state.closedCalls.get(receiptId)
          if (call === undefined) return 0n
          const since = (state.closedCallsOf.get(consumerId) ?? [])
            .filter((other) => other.receipt.agent_id === consumerId && !settledBefore(other, call))
            .reduce((sum, { receipt }) => sum + receipt.cost_microcents, 0n)
          const start = lastSplit(state, consumerId).spent - since
          const first = splits.findLastIndex(({ spent }) => spent <= start)
          return paidPartAt({ start, splits: splits.slice(Math.max(0, first)) }, cost)
        })
    })
  )
)

/** Runs after the posting. Returns the splits before, to be restored if it is undone. */
const recordSplits = (state: State, posting: Posting) => {
  const changed = new Map<ConsumerId, State["splits"] extends Map<ConsumerId, infer Splits> ? Splits : never>()
  for (const consumerId of splitConsumers(posting)) {
    const before = state.splits.get(consumerId) ?? []
    if (before.length === 0 && !bringsCredit(consumerId, posting)) continue
    changed.set(consumerId, before)
    state.splits.set(consumerId, [
      ...before,
      splitAfter(before.at(-1), balanceIn(state, consumerId), consumerId, posting)
    ])
  }
  return changed
}

const lastSplit = (state: State, consumerId: ConsumerId) =>
  splitAt(state.splits.get(consumerId)?.at(-1), balanceIn(state, consumerId))

const balanceIn = (state: State, consumerId: ConsumerId): bigint => {
  const { credits, debits } = walletOf(state, consumerId)
  return credits - debits
}

/** The order is that of PostgreSQL. */
const settledBefore = ({ receipt: one }: ClosedCallRow, { receipt: other }: ClosedCallRow): boolean => {
  const [a, b] = [DateTime.makeUnsafe(one.created_at), DateTime.makeUnsafe(other.created_at)]
  return DateTime.isLessThan(a, b) || (DateTime.Equivalence(a, b) && one.receipt_id < other.receipt_id)
}

export const layer = Layer.mergeAll(budgetStore, ledgerStore, paidFunds)
