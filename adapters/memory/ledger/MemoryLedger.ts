/**
 * State that the memory stores of calls, receipts, usage and the ledger share, so that they can join it. Created with
 * every build of the layer. Figures change by addition and subtraction and are never reset to an earlier value: a unit
 * of work may be rolled back while calls go on.
 */
import { Context, type DateTime, Layer } from "effect"
import type { Book } from "../../../domain/ledger/Book.ts"
import type { AccountKind } from "../../../domain/ledger/Account.ts"
import type { BudgetId, BudgetStatus } from "../../../domain/ledger/BudgetStore.ts"
import type { Transfer, TransferId } from "../../../domain/ledger/Transfer.ts"
import type { CloseCall, OpenCall, KeptResult } from "../../../domain/metering/CallStore.ts"
import type { ConsumerId, ProviderId, ReceiptId, ToolId } from "../../../domain/shared/Ids.ts"

export interface WalletRow {
  credits: bigint
  debits: bigint
  held: bigint
}

export interface BalanceRow {
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
  readonly budgets: ReadonlyArray<BudgetRow>
}

/** A closed call. Its two transfers follow from its receipt and fee. */
export type ClosedCallRow = Omit<CloseCall, "answer" | "free" | "usesFreeCall"> & {
  /** Whether this is a proxied call that the free tier covered. */
  readonly isFreeCall: boolean
}

export interface AnswerRow {
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

export class MemoryLedger extends Context.Service<
  MemoryLedger,
  {
    /** Undefined before the first posting. */
    readonly book: { current: Book | undefined }
    readonly wallets: Map<ConsumerId, WalletRow>
    readonly frozen: Map<ConsumerId, { readonly reason: string; readonly at: DateTime.Utc }>
    /** By account, owner and lot. Contains no wallets. */
    readonly balances: Map<string, BalanceRow>
    /** Transfers of postings. */
    readonly transfers: Map<TransferId, ReadonlyArray<Transfer>>
    readonly references: Map<string, TransferId>
    /** Per provider account: its rows of `balances`, by settlement day. */
    readonly lots: Map<string, Map<string, BalanceRow>>
    readonly openCalls: Map<ReceiptId, OpenCallRow>
    /** By consumer and key: see `keyOf`. */
    readonly openKeys: Map<string, ReceiptId>
    readonly answers: Map<string, AnswerRow>
    /** In closing order, as are the lists per owner. */
    readonly closedCalls: Map<ReceiptId, ClosedCallRow>
    /** Receipts that are not in the log yet, oldest first. */
    readonly unlogged: Array<ClosedCallRow>
    readonly closedCallsOf: Map<ConsumerId | ProviderId, Array<ClosedCallRow>>
    /** By consumer, tool and month: see `freeTierKey`. */
    readonly freeCallsUsed: Map<string, number>
    readonly budgets: Map<ConsumerId, Map<BudgetId, BudgetRow>>
  }
>()("agent-tool-billing/adapters/memory/MemoryLedger") {
  static readonly layer = Layer.sync(MemoryLedger, () => ({
    book: { current: undefined },
    wallets: new Map(),
    frozen: new Map(),
    balances: new Map(),
    transfers: new Map(),
    references: new Map(),
    lots: new Map(),
    openCalls: new Map(),
    openKeys: new Map(),
    answers: new Map(),
    closedCalls: new Map(),
    unlogged: [],
    closedCallsOf: new Map(),
    freeCallsUsed: new Map(),
    budgets: new Map()
  }))
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
