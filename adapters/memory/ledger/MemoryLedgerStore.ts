/**
 * The ledger on plain Maps. A posting is one step. A failed unit of work subtracts what the posting added.
 */
import { Effect, Layer, Option } from "effect"
import { isSameBook, WrongBook } from "../../../domain/ledger/Book.ts"
import {
  type ConsumerFunds,
  DuplicateReference,
  InsufficientBalance,
  LedgerStore
} from "../../../domain/ledger/LedgerStore.ts"
import {
  type AccountChange,
  availableIn,
  callOfTransfer,
  changesOf,
  isBounded,
  type Lot,
  type Posting,
  sameContent,
  type Transfer
} from "../../../domain/ledger/Transfer.ts"
import type { ConsumerId } from "../../../domain/shared/Ids.ts"
import { write } from "../shared/MemoryUnitOfWork.ts"
import { balanceKey, balanceRowOf, lotsOf, MemoryLedger, walletOf } from "./MemoryLedger.ts"
import { auditOf, totalsOf, transfersOfCall } from "./MemoryLedgerAudit.ts"
import { recordSplits } from "./MemoryPaidFunds.ts"

type State = MemoryLedger["Service"]

export const layer = Layer.effect(
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
        Effect.sync(() => state.transfers.get(id) ?? transfersOfCall(state.closedCalls.get(callOfTransfer(id)))),
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
