/**
 * Totals of the ledger in SQLite: as stored, and recomputed from every transfer.
 */
import {
  type AccountTotals,
  type Audit,
  DISCREPANCIES_SHOWN_MAX,
  type Discrepancy
} from "../../domain/ledger/LedgerStore.ts"
import { AccountKind, type Balance, changesOf } from "../../domain/ledger/Transfer.ts"
import type { Statements } from "./SqliteConnection.ts"
import { everyTransfer } from "./SqliteTransfers.ts"

const TOTALS = `SELECT account, sum(credits) AS credits, sum(debits) AS debits,
  sum(max(debits - credits, 0)) AS overdrawn FROM balances GROUP BY account`

export const totalsOf = (sql: Statements): ReadonlyArray<AccountTotals> => {
  const totals = sql.all<AccountTotals>(TOTALS)
  return AccountKind.literals.flatMap((account) => totals.filter((total) => total.account === account))
}

interface Account {
  readonly account: AccountKind
  readonly ownerId: string
  readonly lot: string | undefined
  readonly kept: Balance
  recomputed: Balance
}

const NOTHING: Balance = { credits: 0n, debits: 0n }

const BALANCES = "SELECT account, owner_id, nullif(lot, '') AS lot, credits, debits FROM balances"

interface BalanceRow extends Balance {
  readonly account: AccountKind
  readonly owner_id: string
  readonly lot: string | null
}

export const auditOf = (sql: Statements): Audit => {
  const accounts = new Map<string, Account>()
  const keyOf = (account: AccountKind, ownerId: string, lot: string | undefined) => `${ownerId} ${account} ${lot ?? ""}`
  for (const { account, owner_id, lot: day, ...kept } of sql.each<BalanceRow>(BALANCES)) {
    const lot = day ?? undefined
    accounts.set(keyOf(account, owner_id, lot), { account, ownerId: owner_id, lot, kept, recomputed: NOTHING })
  }
  const stored = accounts.size
  let transfers = 0
  for (const transfer of everyTransfer(sql)) {
    transfers++
    for (const { account, credits, debits, lot, ownerId } of changesOf([transfer])) {
      const key = keyOf(account, ownerId, lot)
      const found = accounts.get(key) ?? { account, ownerId, lot, kept: NOTHING, recomputed: NOTHING }
      const { recomputed } = found
      found.recomputed = { credits: recomputed.credits + credits, debits: recomputed.debits + debits }
      accounts.set(key, found)
    }
  }
  const inOrder = [...accounts].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, account]) => account)
  const discrepancies = inOrder.flatMap(discrepanciesOf).slice(0, DISCREPANCIES_SHOWN_MAX)
  return { transfers, accounts: stored, openCalls: 0, discrepancies }
}

const discrepanciesOf = ({ kept, recomputed, ...account }: Account): ReadonlyArray<Discrepancy> =>
  (["credits", "debits"] as const)
    .filter((figure) => kept[figure] !== recomputed[figure])
    .map((figure) => ({ ...account, figure, kept: kept[figure], recomputed: recomputed[figure] }))
