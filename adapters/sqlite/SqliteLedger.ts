/**
 * A ledger in one SQLite file, for `Ledger` alone, in one process. It has no calls, so nothing is held in a wallet.
 */
import { Effect, Layer, Option } from "effect"
import { type Book, isSameBook, WrongBook } from "../../domain/ledger/Book.ts"
import { DuplicateReference, InsufficientBalance, LedgerStore, type Posted } from "../../domain/ledger/LedgerStore.ts"
import {
  type AccountChange,
  type AccountKind,
  type Balance,
  changesOf,
  isBounded,
  type Lot,
  type Posting,
  sameContent
} from "../../domain/ledger/Transfer.ts"
import type { ConsumerId } from "../../domain/shared/Ids.ts"
import { UnitOfWork } from "../../domain/shared/StoreUnavailable.ts"
import { SqliteConnection, type Statements } from "./SqliteConnection.ts"
import { auditOf, totalsOf } from "./SqliteLedgerAudit.ts"
import { insertTransfers, transfersBy } from "./SqliteTransfers.ts"

const unitOfWork = Layer.effect(
  UnitOfWork,
  Effect.map(SqliteConnection, ({ atomically }) => UnitOfWork.of({ atomically }))
)

const ledgerStore = Layer.effect(
  LedgerStore,
  Effect.map(SqliteConnection, ({ atomically, run }) =>
    LedgerStore.of({
      post: (posting) => atomically(Effect.flatten(run((sql) => post(sql, posting)))),
      book: run((sql) => Option.fromUndefinedOr(bookIn(sql))),
      wallet: (consumerId) => run((sql) => ({ ...balanceIn(sql, "wallet", consumerId), held: 0n })),
      funds: (consumerId) => run((sql) => fundsIn(sql, consumerId)),
      // A unit of work has the database to itself.
      lockedFunds: (consumerId) => run((sql) => fundsIn(sql, consumerId)),
      lots: (providerId) => run((sql) => sql.all<Lot>(LOTS, providerId)),
      balance: (account, ownerId) => run((sql) => balanceIn(sql, account, ownerId)),
      transfers: (id) => run((sql) => transfersBy(sql, "transfer_id", id)),
      byReference: (reference) => run((sql) => transfersBy(sql, "reference", reference)),
      totals: run(totalsOf),
      audit: run(auditOf)
    })
  )
)

/** `LedgerStore` and `UnitOfWork` on the file, which is created if there is none; `:memory:` for a test. */
export const layer = (file: string) =>
  Layer.merge(ledgerStore, unitOfWork).pipe(Layer.provide(SqliteConnection.layer(file)))

/** Writes before it has checked everything: a failure must undo the transaction. */
const post = (
  sql: Statements,
  posting: Posting
): Effect.Effect<Posted, InsufficientBalance | DuplicateReference | WrongBook> => {
  const { book, legs, reference, transferId } = posting
  const found = bookIn(sql)
  if (found !== undefined && !isSameBook(found, book)) return Effect.fail(new WrongBook({ found, own: book }))
  const [first, ...others] = transfersBy(sql, "reference", reference)
  if (first !== undefined) {
    return sameContent(legs, [first, ...others])
      ? Effect.succeed({ transferId: first.transferId, repeated: true })
      : Effect.fail(new DuplicateReference({ reference }))
  }
  for (const change of changesOf(legs)) {
    const { account, lot, ownerId } = change
    const { credits, debits } = lot === undefined ? balanceIn(sql, account, ownerId) : lotIn(sql, ownerId, lot)
    const available = credits - debits
    if (isBounded(change) && available + change.credits < change.debits) {
      return Effect.fail(insufficient(change, available))
    }
    const key = [ownerId, account, lot ?? NO_LOT]
    sql.all(OPEN_BALANCE, ...key)
    sql.all(CHANGE_BALANCE, change.credits, change.debits, ...key)
  }
  if (found === undefined || found.accountId !== book.accountId) sql.all(OPEN_BOOK, book.mode, book.accountId ?? null)
  insertTransfers(sql, posting)
  return Effect.succeed({ transferId, repeated: false })
}

/** The `lot` of balances without lots. */
const NO_LOT = ""

const OPEN_BALANCE = `INSERT INTO balances (owner_id, account, lot, credits, debits) VALUES (?, ?, ?, 0, 0)
  ON CONFLICT DO NOTHING`

const CHANGE_BALANCE = `UPDATE balances SET credits = credits + ?, debits = debits + ?
  WHERE owner_id = ? AND account = ? AND lot = ?`

const OPEN_BOOK = `INSERT INTO book (id, mode, account_id) VALUES (1, ?, ?)
  ON CONFLICT DO UPDATE SET account_id = excluded.account_id`

const BALANCE = `SELECT coalesce(sum(credits), 0) AS credits, coalesce(sum(debits), 0) AS debits FROM balances
  WHERE owner_id = ? AND account = ?`

const LOTS = `SELECT lot AS day, credits, debits, 0 AS earned FROM balances
  WHERE owner_id = ? AND account = 'provider' AND credits <> debits ORDER BY lot`

const balanceIn = (sql: Statements, account: AccountKind, ownerId: string): Balance =>
  sql.all<Balance>(BALANCE, ownerId, account)[0]!

const lotIn = (sql: Statements, ownerId: string, lot: string): Balance =>
  sql.all<Balance>(`${BALANCE} AND lot = ?`, ownerId, "provider", lot)[0]!

const bookIn = (sql: Statements): Book | undefined => {
  const [row] = sql.all<{ mode: Book["mode"]; account_id: string | null }>("SELECT mode, account_id FROM book")
  return row === undefined ? undefined : { mode: row.mode, accountId: row.account_id ?? undefined }
}

const fundsIn = (sql: Statements, consumerId: ConsumerId) => {
  const [wallet, debt] = [balanceIn(sql, "wallet", consumerId), balanceIn(sql, "consumer_debt", consumerId)]
  return { availableMicrocents: wallet.credits - wallet.debits, owedMicrocents: debt.debits - debt.credits }
}

const insufficient = ({ account, credits, debits, ownerId }: AccountChange, available: bigint): InsufficientBalance =>
  new InsufficientBalance({
    account,
    ownerId,
    availableMicrocents: available,
    neededMicrocents: debits - credits
  })
