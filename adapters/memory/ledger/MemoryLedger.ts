/**
 * State that the memory stores of calls, receipts, usage and the ledger share, so that they can join it. Created with
 * every build of the layer. Figures change by addition and subtraction and are never reset to an earlier value: a unit
 * of work may be rolled back while calls go on.
 */
import { Context, Effect, Layer } from "effect"
import type { Book } from "../../../domain/ledger/Book.ts"
import type { BudgetId, BudgetStatus } from "../../../domain/ledger/Budgets.ts"
import type { WalletSplit } from "../../../domain/ledger/PaidFunds.ts"
import type { AccountKind, Transfer, TransferId } from "../../../domain/ledger/Transfer.ts"
import type { CloseCall, KeptResult, OpenCall } from "../../../domain/metering/CallStore.ts"
import type { Freeze } from "../../../domain/payments/AccountFreezes.ts"
import type { ConsumerId, LevelId, ProviderId, ReceiptId, ToolId } from "../../../domain/shared/Ids.ts"
import type { Microcents } from "../../../domain/shared/Microcents.ts"

interface WalletRow {
  credits: bigint
  debits: bigint
  held: bigint
}

interface BalanceRow {
  readonly account: AccountKind
  readonly ownerId: string
  /** The settlement day; only for a provider's account. */
  readonly lot: string | undefined
  credits: bigint
  debits: bigint
  /** The part of the credits that settled calls earned. */
  earned: bigint
}

export interface OpenCallRow {
  readonly call: OpenCall
  readonly held: bigint
  readonly free: boolean
  /** With the beginning of the period in which the call was opened. */
  readonly budgets: ReadonlyArray<{ readonly budget: BudgetRow; readonly periodStartMs: number }>
  readonly freeCallsLeft: number | undefined
  /** The leg after which the call waits for its caller; undefined while it runs. */
  readonly suspendedLeg: number | undefined
}

/** A closed call. Its two transfers follow from its receipt and fee. */
export type ClosedCallRow = Omit<CloseCall, "answer" | "free" | "usesFreeCall"> & {
  readonly fee: Microcents
  /** The free tier covered this proxied call. */
  readonly isFreeCall: boolean
  /** The lowest level of the caller. */
  readonly levelId: LevelId | undefined
}

interface AnswerRow {
  readonly requestHash: string
  readonly invocationId: ReceiptId
  readonly answer: KeptResult | undefined
  readonly keptAtMs: number
}

export interface BudgetRow extends Omit<BudgetStatus, "cap" | "spentMicrocents" | "heldMicrocents"> {
  cap: BudgetStatus["cap"]
  spent: bigint
  held: bigint
  periodStartMs: number
}

export class MemoryLedger extends Context.Service<MemoryLedger>()("agent-tool-billing/adapters/memory/MemoryLedger", {
  make: Effect.sync(() => ({
    book: { current: undefined as Book | undefined },
    wallets: new Map<ConsumerId, WalletRow>(),
    frozen: new Map<ConsumerId, Freeze>(),
    /** The keys have account, owner and lot. Wallets are apart. */
    balances: new Map<string, BalanceRow>(),
    /** Oldest first. */
    splits: new Map<ConsumerId, ReadonlyArray<WalletSplit>>(),
    /** Transfers of postings. */
    transfers: new Map<TransferId, ReadonlyArray<Transfer>>(),
    references: new Map<string, TransferId>(),
    /** Each provider account's rows of `balances`, by settlement day. */
    lots: new Map<string, Map<string, BalanceRow>>(),
    openCalls: new Map<ReceiptId, OpenCallRow>(),
    /** See `keyOf`. */
    openKeys: new Map<string, ReceiptId>(),
    answers: new Map<string, AnswerRow>(),
    /** The order is that of closing, also in the lists of owners. */
    closedCalls: new Map<ReceiptId, ClosedCallRow>(),
    /** Receipts that are not in the log yet, oldest first. */
    unlogged: new Array<ClosedCallRow>(),
    closedCallsOf: new Map<ConsumerId | ProviderId, Array<ClosedCallRow>>(),
    /** See `freeTierKey`. */
    freeCallsUsed: new Map<string, number>(),
    budgets: new Map<ConsumerId, Map<BudgetId, BudgetRow>>()
  }))
}) {
  static readonly layer = Layer.effect(MemoryLedger, MemoryLedger.make)
}

export const keyOf = (consumerId: ConsumerId, keyHash: string): string => `${consumerId} ${keyHash}`

export const freeTierKey = (consumerId: ConsumerId, toolId: ToolId, month: string): string =>
  `${consumerId} ${toolId} ${month}`

/** Creates the wallet on first use: a consumer that never had funds has a wallet of zeros. */
export const walletOf = (ledger: MemoryLedger["Service"], consumerId: ConsumerId): WalletRow => {
  let wallet = ledger.wallets.get(consumerId)
  if (wallet === undefined) ledger.wallets.set(consumerId, (wallet = { credits: 0n, debits: 0n, held: 0n }))
  return wallet
}

export const balanceKey = (account: AccountKind, ownerId: string, lot?: string): string =>
  lot === undefined ? `${account} ${ownerId}` : `${account} ${ownerId} ${lot}`

export const balanceRowOf = (
  ledger: MemoryLedger["Service"],
  account: AccountKind,
  ownerId: string,
  lot?: string
): BalanceRow => {
  const key = balanceKey(account, ownerId, lot)
  let row = ledger.balances.get(key)
  if (row === undefined) {
    ledger.balances.set(key, (row = { account, ownerId, lot, credits: 0n, debits: 0n, earned: 0n }))
    if (lot !== undefined) lotsOf(ledger, ownerId).set(lot, row)
  }
  return row
}

export const lotsOf = (ledger: MemoryLedger["Service"], providerId: string): Map<string, BalanceRow> => {
  let lots = ledger.lots.get(providerId)
  if (lots === undefined) ledger.lots.set(providerId, (lots = new Map()))
  return lots
}
