/**
 * The ledger in PostgreSQL. A posting locks its wallets in the order of their ids, as calls do, and then the balances of its
 * other accounts. The rows of the posted transfers claim the reference.
 */
import { DateTime, Effect, Layer, Option } from "effect"
import type { Statement } from "effect/sql"
import { type Book, isSameBook, WrongBook } from "../../../domain/ledger/Book.ts"
import {
  type AccountTotals,
  type Audit,
  type ConsumerFunds,
  DISCREPANCIES_SHOWN_MAX,
  type Discrepancy,
  DuplicateReference,
  InsufficientBalance,
  LedgerStore,
  type Posted
} from "../../../domain/ledger/LedgerStore.ts"
import { splitConsumers } from "../../../domain/ledger/PaidFunds.ts"
import {
  type AccountChange,
  type AccountKind,
  type Balance,
  changesOf,
  isBounded,
  type Lot,
  MARKET_OWNER,
  type Posting,
  sameContent,
  type SettledCall,
  type Transfer,
  transfersOfCall,
  type Wallet
} from "../../../domain/ledger/Transfer.ts"
import type { ConsumerId } from "../../../domain/shared/Ids.ts"
import { ReceiptCounter } from "./ReceiptCounter.ts"
import { columnsOf } from "../shared/Columns.ts"
import { rowReader, toInstant } from "../shared/Rows.ts"
import { type StoreSql, storeSql, tracedStore } from "../shared/StoreSql.ts"
import { ACCOUNT_CODE, NO_LOT, receiptOfUuid, TRANSFER_CODE, wordOf } from "./LedgerCodes.ts"
import { recordSplit } from "./PostgresPaidFunds.ts"

const toTransfer = rowReader<Transfer>(
  {},
  {
    consumer_id: (id: string) => (id === MARKET_OWNER ? undefined : id),
    kind: (code: number) => wordOf(TRANSFER_CODE, code),
    debit: (code: number) => wordOf(ACCOUNT_CODE, code),
    credit: (code: number) => wordOf(ACCOUNT_CODE, code)
  }
)

interface SettledRow extends Omit<SettledCall, "receiptId" | "calledAt" | "settledAt"> {
  readonly id: string
  readonly called_at: Date
  readonly created_at: Date
}

const ofCall = ({ called_at, created_at, id, ...call }: SettledRow): ReadonlyArray<Transfer> =>
  transfersOfCall({
    ...call,
    receiptId: receiptOfUuid(id),
    calledAt: toInstant(called_at),
    settledAt: toInstant(created_at)
  })

// Totals of the ledger in PostgreSQL: as stored, and recomputed. One statement each, so that all figures describe the
// same moment while calls are settled. The fee of a call is recomputed from its id, as `feeOf` does it.
//
// The servers of a Citus cluster share no moment. What differs is read again after a pause: a difference counts if it stays.

const READINGS = 3

const paused = (sql: StoreSql) => sql`SELECT pg_sleep(0.3)`

/**
 * What calls earned, as rows of an account: of all receipts, or of those that are not counted in `account_balances` yet. The
 * provider's share has the lot of the day on which the receipt was created.
 */
export const earned = (sql: StoreSql, isWanted: Statement.Fragment) => sql`
  SELECT ${ACCOUNT_CODE.provider}::int2 AS account, provider_id AS owner_id, (created_at AT TIME ZONE 'UTC')::date AS lot,
    sum(cost - fee)::int8 AS credits, count(*) FILTER (WHERE cost > fee) AS transfers
  FROM receipts WHERE cost > 0 AND ${isWanted} GROUP BY 2, 3
  UNION ALL
  SELECT ${ACCOUNT_CODE.platform_fee}::int2, ${MARKET_OWNER}::uuid, ${NO_LOT}::date, sum(fee)::int8, count(*)
  FROM receipts WHERE fee > 0 AND ${isWanted} HAVING count(*) > 0`

const uncounted = (sql: StoreSql) =>
  earned(sql, sql`receipt_id IN (SELECT unnest(receipt_ids) FROM receipts_unlogged WHERE NOT counted)`)

interface TotalsRow {
  readonly account: number
  readonly credits: bigint
  readonly debits: bigint
  readonly overdrawn: bigint
}

interface AuditRow {
  readonly transfers: bigint
  readonly accounts: bigint
  readonly open_calls: bigint
  readonly account: number | null
  readonly owner_id: string | null
  readonly lot: string | null
  readonly figure: Discrepancy["figure"] | null
  readonly kept: bigint | null
  readonly recomputed: bigint | null
}

const readTotals = Effect.fnUntraced(function* (sql: StoreSql) {
  const rows = yield* sql<TotalsRow>`
    SELECT account, sum(credits)::int8 AS credits, sum(debits)::int8 AS debits,
      sum(greatest(debits - credits, 0))::int8 AS overdrawn
    FROM (
      SELECT ${ACCOUNT_CODE.wallet}::int2 AS account, credits, debits FROM wallets
      UNION ALL SELECT account, sum(credits)::int8, sum(debits)::int8 FROM (
        SELECT owner_id, account, day AS lot, credits, debits FROM account_balances
        UNION ALL SELECT owner_id, account, lot, credits, 0 FROM (${uncounted(sql)}) e
      ) every GROUP BY owner_id, account, lot
    ) kept GROUP BY account HAVING sum(credits) > 0 OR sum(debits) > 0 ORDER BY account`
  return rows.map((row): AccountTotals => ({ ...row, account: wordOf(ACCOUNT_CODE, row.account) }))
})

const isBalanced = (totals: ReadonlyArray<AccountTotals>): boolean =>
  totals.reduce((sum, { credits, debits }) => sum + credits - debits, 0n) === 0n

const totalsOf = Effect.fnUntraced(function* (sql: StoreSql) {
  let totals = yield* readTotals(sql)
  for (let n = 1; n < READINGS && !isBalanced(totals); n++) {
    yield* paused(sql)
    totals = yield* readTotals(sql)
  }
  return totals
})

const readAudit = Effect.fnUntraced(function* (sql: StoreSql) {
  const { consumer_debt, platform_fee, provider, provider_frozen, wallet } = ACCOUNT_CODE
  const rows = yield* sql<AuditRow>`
    WITH posted AS MATERIALIZED (
      SELECT debit, credit, consumer_id, provider_id, lot, amount FROM posted_transfers
    ), of_calls AS MATERIALIZED (
      SELECT account, owner_id, lot, credits, 0::int8 AS debits, transfers FROM (${earned(sql, sql`true`)}) e
      UNION ALL
      SELECT ${wallet}::int2, consumer_id, NULL, 0, sum(cost)::int8, 0 FROM receipts WHERE cost > 0 GROUP BY consumer_id
      UNION ALL SELECT account, owner_id, lot, credits, debits, transfers FROM archived_totals
    ), moved AS (
      SELECT debit AS account, consumer_id, provider_id, lot, 0::int8 AS credits, amount AS debits FROM posted
      UNION ALL SELECT credit, consumer_id, provider_id, lot, amount, 0 FROM posted
      UNION ALL SELECT account, owner_id, owner_id, lot, credits, debits FROM of_calls
    ), recomputed AS (
      SELECT account, CASE WHEN account IN (${wallet}::int2, ${consumer_debt}::int2) THEN consumer_id
          WHEN account IN (${provider}::int2, ${provider_frozen}::int2) THEN provider_id ELSE ${MARKET_OWNER}::uuid END
          AS owner_id,
        CASE WHEN account = ${provider}::int2 THEN lot ELSE ${NO_LOT}::date END AS lot,
        sum(credits)::int8 AS credits, sum(debits)::int8 AS debits
      FROM moved GROUP BY 1, 2, 3
    ), open AS MATERIALIZED (
      SELECT ${wallet}::int2 AS account, consumer_id AS owner_id, ${NO_LOT}::date AS lot, sum(held)::int8 AS held,
        count(*) AS calls
      FROM calls_open GROUP BY 2
    ), wallet_rows AS MATERIALIZED (
      SELECT ${wallet}::int2 AS account, consumer_id AS owner_id, ${NO_LOT}::date AS lot, credits, debits, held FROM wallets
    ), waiting AS MATERIALIZED (
      ${uncounted(sql)}
    ), balances AS MATERIALIZED (
      SELECT account, owner_id, day AS lot, credits, debits FROM account_balances
    ), kept AS (
      SELECT * FROM wallet_rows
      UNION ALL SELECT account, owner_id, lot, sum(credits)::int8, sum(debits)::int8, 0 FROM (
        SELECT * FROM balances UNION ALL SELECT account, owner_id, lot, credits, 0 FROM waiting
      ) b GROUP BY 1, 2, 3
    ), compared AS (
      SELECT coalesce(k.account, r.account, o.account) AS account,
        coalesce(k.owner_id, r.owner_id, o.owner_id) AS owner_id, coalesce(k.lot, r.lot, o.lot) AS lot, figure.*
      FROM kept k
      FULL JOIN recomputed r ON r.account = k.account AND r.owner_id = k.owner_id AND r.lot = k.lot
      FULL JOIN open o ON o.account = k.account AND o.owner_id = k.owner_id
      CROSS JOIN LATERAL (VALUES
        ('credits', coalesce(k.credits, 0), coalesce(r.credits, 0)),
        ('debits', coalesce(k.debits, 0), coalesce(r.debits, 0)),
        ('held', coalesce(k.held, 0), coalesce(o.held, 0))
      ) AS figure (figure, kept, recomputed)
    ), named AS (
      SELECT receipt_id, cost, fee, fee_bps,
        get_byte(uuid_send(receipt_id), 14)::int8 * 256 + get_byte(uuid_send(receipt_id), 15) AS named_bps
      FROM receipts
    ), fees AS (
      SELECT *, CASE WHEN cost = 0 OR named_bps = 0 THEN 0 ELSE greatest(1,
        cost / 10000 * named_bps + (cost % 10000 * named_bps + 5000) / 10000) END AS named_fee
      FROM named
    ), compared_fees AS MATERIALIZED (
      SELECT ${platform_fee}::int2 AS account, receipt_id, ${NO_LOT}::date, figure.*
      FROM fees CROSS JOIN LATERAL (VALUES ('fee', fee, named_fee), ('fee_bps', fee_bps, named_bps))
        AS figure (figure, kept, recomputed)
      WHERE fee <> named_fee OR fee_bps <> named_bps
    ), wrong AS (
      SELECT * FROM (SELECT * FROM compared UNION ALL SELECT * FROM compared_fees) every WHERE kept <> recomputed
      ORDER BY owner_id, account, lot, figure LIMIT ${DISCREPANCIES_SHOWN_MAX}
    )
    SELECT totals.*, wrong.* FROM (
      SELECT (SELECT count(*) FROM posted) + (SELECT coalesce(sum(transfers), 0)::int8 FROM of_calls) AS transfers,
        (SELECT count(*) FROM kept) AS accounts,
        (SELECT coalesce(sum(calls), 0)::int8 FROM open) AS open_calls
    ) totals LEFT JOIN wrong ON true ORDER BY wrong.owner_id, wrong.account, wrong.lot, wrong.figure`
  const first = rows[0]!
  const audit: Audit = {
    transfers: Number(first.transfers),
    accounts: Number(first.accounts),
    openCalls: Number(first.open_calls),
    discrepancies: rows.flatMap((row) =>
      row.figure === null
        ? []
        : [
            {
              account: wordOf(ACCOUNT_CODE, row.account!),
              ownerId: row.figure.startsWith("fee") ? receiptOfUuid(row.owner_id!) : row.owner_id!,
              lot: row.account === provider ? row.lot! : undefined,
              figure: row.figure,
              kept: row.kept!,
              recomputed: row.recomputed!
            }
          ]
    )
  }
  return audit
})

/** Whether two readings name the same account and figure, and differ by the same amount. */
const isSame = (a: Discrepancy, b: Discrepancy): boolean =>
  a.account === b.account &&
  a.ownerId === b.ownerId &&
  a.lot === b.lot &&
  a.figure === b.figure &&
  a.kept - a.recomputed === b.kept - b.recomputed

const auditOf = Effect.fnUntraced(function* (sql: StoreSql) {
  let audit = yield* readAudit(sql)
  for (let n = 1; n < READINGS && audit.discrepancies.length > 0; n++) {
    yield* paused(sql)
    const before = audit.discrepancies
    audit = yield* readAudit(sql)
    audit = { ...audit, discrepancies: audit.discrepancies.filter((one) => before.some((other) => isSame(one, other))) }
  }
  return audit
})

/** Earnings from calls have another lane. One row per account: a posting locks it and reads the whole balance afterwards. */
const POSTING_LANE = 0

const CREDITED_BY_CALLS: ReadonlySet<AccountKind> = new Set(["provider", "platform_fee"])

interface BookRow {
  readonly mode: Book["mode"]
  readonly account_id: string | null
}

export const layer = Layer.effect(
  LedgerStore,
  Effect.gen(function* () {
    const sql = yield* storeSql
    const counter = yield* ReceiptCounter

    /** Calls credit some accounts: these are complete after their calls are counted. */
    const counted = (...accounts: ReadonlyArray<AccountKind>) =>
      accounts.some((account) => CREDITED_BY_CALLS.has(account)) ? counter.count : Effect.void

    /** The book as last read after a commit. It never changes after that, so later postings do not read it again. */
    let known: Book | undefined

    const openBook = Effect.fnUntraced(function* (own: Book) {
      if (known !== undefined && isSameBook(known, own)) return
      // Waits for another node that opens the book at the same moment.
      yield* sql`INSERT INTO book (mode, account_id, opened_at) VALUES (${own.mode}, ${own.accountId ?? null}, now())
        ON CONFLICT DO NOTHING`
      yield* sql`UPDATE book SET account_id = ${own.accountId ?? null} WHERE mode = ${own.mode} AND account_id IS NULL`
      const found = Option.getOrThrow(yield* readBook)
      if (!isSameBook(found, own)) return yield* new WrongBook({ found, own })
      yield* sql.afterCommit(
        Effect.sync(() => {
          known = found
        })
      )
    })

    const readBook = Effect.map(sql<BookRow>`SELECT mode, account_id FROM book`, ([row]) =>
      row === undefined
        ? Option.none<Book>()
        : Option.some<Book>({ mode: row.mode, accountId: row.account_id ?? undefined })
    )

    const post = Effect.fnUntraced(function* (posting: Posting) {
      yield* openBook(posting.book)
      const changes = changesOf(posting.legs)
      const wallets = changes.filter((change) => change.account === "wallet")
      const consumers = splitConsumers(posting)
      const available = yield* lockWallets(consumers.toSorted())
      const written = yield* insertTransfers(posting)
      if (written === 0) return yield* repetitionOf(posting)
      // The reference covers only the first of these legs: the failure rolls back the legs that were written.
      if (written < posting.legs.length) return yield* new DuplicateReference({ reference: posting.reference })
      for (const wallet of wallets) yield* changeWallet(wallet, available.get(wallet.ownerId)!)
      yield* changeBalances(changes.filter((change) => change.account !== "wallet"))
      for (const consumerId of consumers) yield* recordSplit(sql, consumerId, posting)
      const posted: Posted = { transferId: posting.transferId, repeated: false }
      return posted
    }, sql.withTransaction)

    /** One by one: Citus locks rows of one shard with a statement. */
    const lockWallets = Effect.fnUntraced(function* (ids: ReadonlyArray<string>) {
      const available = new Map<string, bigint>()
      for (const id of ids) {
        yield* sql`INSERT INTO wallets (consumer_id) VALUES (${id}) ON CONFLICT DO NOTHING`
        const amount = yield* sql<{ readonly available: bigint }>`
          SELECT credits - debits - held AS available FROM wallets
          WHERE consumer_id = ${id} FOR NO KEY UPDATE`.one((row) => row.available)
        available.set(id, amount)
      }
      return available
    })

    /** Returns how many were inserted. Transfers whose reference exists are skipped. */
    const insertTransfers = Effect.fnUntraced(function* ({ legs, ...posting }: Posting) {
      const { int2, int8, text, uuid } = columnsOf(legs)
      const rows = yield* sql`
        INSERT INTO posted_transfers (transfer_id, consumer_id, provider_id, amount, effective_at, recorded_at, leg, kind, debit,
          credit, lot, reference)
        SELECT ${posting.transferId}::uuid, leg.consumer_id, leg.provider_id, leg.amount,
          ${DateTime.toDate(posting.effectiveAt)}::timestamptz, ${DateTime.toDate(posting.recordedAt)}::timestamptz,
          leg.n, leg.kind, leg.debit, leg.credit, leg.lot, ${posting.reference}
        FROM unnest(${uuid((leg) => leg.consumerId ?? MARKET_OWNER)},
          ${uuid((leg) => leg.providerId ?? null)},
          ${int8((leg) => leg.amount)},
          ${int2((leg) => TRANSFER_CODE[leg.kind])},
          ${int2((leg) => ACCOUNT_CODE[leg.debit])},
          ${int2((leg) => ACCOUNT_CODE[leg.credit])},
          ${text((leg) => leg.lot ?? null)}::date[])
          WITH ORDINALITY AS leg (consumer_id, provider_id, amount, kind, debit, credit, lot, n)
        ORDER BY leg.n
        ON CONFLICT (reference, leg) DO NOTHING
        RETURNING leg`
      return rows.length
    })

    const repetitionOf = Effect.fnUntraced(function* (posting: Posting) {
      const { reference } = posting
      const known = yield* byReference(reference)
      if (!sameContent(posting.legs, known)) return yield* new DuplicateReference({ reference })
      return { transferId: known[0]!.transferId, repeated: true }
    })

    const changeWallet = Effect.fnUntraced(function* (change: AccountChange, available: bigint) {
      if (available + change.credits < change.debits) return yield* insufficient(change, available)
      yield* sql`UPDATE wallets SET credits = credits + ${change.credits}, debits = debits + ${change.debits}
        WHERE consumer_id = ${change.ownerId}`
    })

    const changeBalances = Effect.fnUntraced(function* (changes: ReadonlyArray<AccountChange>) {
      if (changes.length === 0) return
      const { accounts, days, owners } = keysOf(changes)
      yield* sql`INSERT INTO account_balances AS b (owner_id, account, day, lane, credits, debits)
        SELECT owner_id, account, day, ${POSTING_LANE}, credits, debits
        FROM unnest(${owners}, ${accounts}, ${days}::date[],
          ${columnsOf(changes).int8((change) => change.credits)}, ${columnsOf(changes).int8((change) => change.debits)})
          WITH ORDINALITY AS change (owner_id, account, day, credits, debits, n)
        ORDER BY change.n
        ON CONFLICT (owner_id, account, day, lane)
        DO UPDATE SET credits = b.credits + excluded.credits, debits = b.debits + excluded.debits`
      yield* checkBounded(changes.filter(isBounded))
    })

    /** Postings that debit an account wait for its row above; calls only add to it, in a row of their own. */
    const checkBounded = Effect.fnUntraced(function* (bounded: ReadonlyArray<AccountChange>) {
      if (bounded.length === 0) return
      yield* counted(...bounded.map(({ account }) => account))
      const { accounts, days, owners } = keysOf(bounded)
      const rows = yield* sql<{ readonly n: bigint; readonly balance: bigint }>`
        SELECT change.n, (SELECT coalesce(sum(b.credits - b.debits), 0)::int8 FROM account_balances b
          WHERE b.owner_id = change.owner_id AND b.account = change.account AND b.day = change.day) AS balance
        FROM unnest(${owners}, ${accounts}, ${days}::date[]) WITH ORDINALITY AS change (owner_id, account, day, n)
        ORDER BY change.n`
      for (const [i, { balance }] of rows.entries()) {
        const change = bounded[i]!
        if (balance < 0n) return yield* insufficient(change, balance + change.debits - change.credits)
      }
    })

    const balanceOf = (account: AccountKind, ownerId: string) =>
      Effect.andThen(
        counted(account),
        sql<Balance>`
          SELECT coalesce(sum(credits), 0)::int8 AS credits, coalesce(sum(debits), 0)::int8 AS debits
          FROM account_balances WHERE owner_id = ${ownerId} AND account = ${ACCOUNT_CODE[account]}`.one(
          (balance) => balance
        )
      )

    const wallet = Effect.fnUntraced(function* (consumerId: ConsumerId) {
      const rows = yield* sql<Wallet>`SELECT credits, debits, held FROM wallets WHERE consumer_id = ${consumerId}`
      return rows[0] ?? { credits: 0n, debits: 0n, held: 0n }
    })

    const byReference = (reference: string) =>
      sql`SELECT * FROM posted_transfers WHERE reference = ${reference} ORDER BY leg`.all(toTransfer)

    return tracedStore(LedgerStore, {
      post,
      book: readBook,

      wallet,

      funds: Effect.fnUntraced(function* (consumerId) {
        const { credits, debits, held } = yield* wallet(consumerId)
        return fundsOf(credits - debits - held, yield* balanceOf("consumer_debt", consumerId))
      }),

      lockedFunds: Effect.fnUntraced(function* (consumerId) {
        const available = (yield* lockWallets([consumerId])).get(consumerId)!
        return fundsOf(available, yield* balanceOf("consumer_debt", consumerId))
      }),

      lots: Effect.fnUntraced(function* (providerId) {
        yield* counted("provider")
        return yield* sql<Lot>`
          SELECT day, sum(credits)::int8 AS credits, sum(debits)::int8 AS debits,
            coalesce(sum(credits) FILTER (WHERE lane <> ${POSTING_LANE}), 0)::int8 AS earned
          FROM account_balances
          WHERE owner_id = ${providerId} AND account = ${ACCOUNT_CODE.provider}
          GROUP BY day HAVING sum(credits) <> sum(debits) ORDER BY day`
      }),

      balance: balanceOf,

      transfers: Effect.fnUntraced(function* (id) {
        const posted = yield* sql`SELECT * FROM posted_transfers WHERE transfer_id = ${id} ORDER BY leg`.all(toTransfer)
        if (posted.length > 0) return posted
        const calls = yield* sql<SettledRow>`
          SELECT receipt_id AS id, consumer_id AS "consumerId", provider_id AS "providerId", cost, fee, called_at, created_at
          FROM receipts WHERE receipt_id = ${id}`
        return calls.flatMap(ofCall)
      }),

      byReference,

      totals: totalsOf(sql),
      audit: auditOf(sql)
    })
  })
).pipe(Layer.provide(ReceiptCounter.layer))

const fundsOf = (availableMicrocents: bigint, debt: Balance): ConsumerFunds => ({
  availableMicrocents,
  owedMicrocents: debt.debits - debt.credits
})

const keysOf = (changes: ReadonlyArray<AccountChange>) => ({
  owners: columnsOf(changes).uuid((change) => change.ownerId),
  accounts: columnsOf(changes).int2((change) => ACCOUNT_CODE[change.account]),
  days: columnsOf(changes).text((change) => change.lot ?? NO_LOT)
})

const insufficient = (change: AccountChange, available: bigint): InsufficientBalance =>
  new InsufficientBalance({
    account: change.account,
    ownerId: change.ownerId,
    availableMicrocents: available,
    neededMicrocents: change.debits - change.credits
  })
