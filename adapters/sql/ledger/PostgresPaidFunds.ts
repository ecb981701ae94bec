/**
 * Splits of wallets into paid funds and credit, in PostgreSQL. A split is recorded under the lock of its wallet.
 */
import { Effect, Option } from "effect"
import {
  bringsCredit,
  PaidFunds,
  paidPartAt,
  splitAfter,
  splitAt,
  type WalletSplit
} from "../../../domain/ledger/PaidFunds.ts"
import type { Posting } from "../../../domain/ledger/Transfer.ts"
import type { ConsumerId } from "../../../domain/shared/Ids.ts"
import { rowReader } from "../shared/Rows.ts"
import { type StoreSql, storeLayer } from "../shared/StoreSql.ts"
import { uuidOfReceipt } from "./LedgerCodes.ts"

export const layer = storeLayer(PaidFunds, (sql) => ({
  paid: Effect.fnUntraced(function* (consumerId) {
    const { balance, split } = yield* walletNow(sql, consumerId)
    return splitAt(split, balance).paid
  }),

  paidOf: Effect.fnUntraced(function* ({ consumerId, cost, receiptId }) {
    if ((yield* walletNow(sql, consumerId)).split === undefined) return cost
    const id = uuidOfReceipt(receiptId)
    const [call] = yield* sql<{ readonly settled_at: Date }>`
      SELECT created_at AS settled_at FROM receipts WHERE receipt_id = ${id} AND consumer_id = ${consumerId}`
    if (call === undefined) return 0n
    // One statement: wallet and receipts are those of one moment.
    const start = yield* sql<{ readonly start: bigint }>`
      SELECT s.spent + greatest(s.paid + s.credit - (w.credits - w.debits), 0) - (
        SELECT sum(r.cost)::int8 FROM receipts r
        WHERE r.consumer_id = ${consumerId} AND r.created_at >= ${call.settled_at}
          AND (r.created_at > ${call.settled_at} OR r.receipt_id >= ${id})) AS start
      FROM wallet_splits s JOIN wallets w USING (consumer_id)
      WHERE s.consumer_id = ${consumerId} ORDER BY s.place DESC LIMIT 1`.one((row) => row.start)
    const splits = yield* sql`
      SELECT paid, credit, spent FROM wallet_splits
      WHERE consumer_id = ${consumerId} AND spent < ${start + cost} AND place >= coalesce((
        SELECT max(place) FROM wallet_splits WHERE consumer_id = ${consumerId} AND spent <= ${start}), 0)
      ORDER BY place`.all(toSplit)
    return splits.length === 0 ? cost : paidPartAt({ start, splits }, cost)
  })
}))

/** Runs after the posting, in its transaction. */
export const recordSplit = Effect.fnUntraced(function* (sql: StoreSql, consumerId: ConsumerId, posting: Posting) {
  const { balance, split } = yield* walletNow(sql, consumerId)
  if (split === undefined && !bringsCredit(consumerId, posting)) return
  const { credit, paid, spent } = splitAfter(split, balance, consumerId, posting)
  yield* sql`
    INSERT INTO wallet_splits (consumer_id, place, paid, credit, spent)
    SELECT ${consumerId}, 1 + coalesce(max(place), 0), ${paid}, ${credit}, ${spent}
    FROM wallet_splits WHERE consumer_id = ${consumerId}`
})

const walletNow = Effect.fnUntraced(function* (sql: StoreSql, consumerId: ConsumerId) {
  const row = yield* sql<Nullable<WalletSplit> & { readonly balance: bigint }>`
    SELECT w.credits - w.debits AS balance, s.paid, s.credit, s.spent
    FROM wallets w LEFT JOIN LATERAL (
      SELECT * FROM wallet_splits WHERE consumer_id = w.consumer_id ORDER BY place DESC LIMIT 1) s ON true
    WHERE w.consumer_id = ${consumerId}`.first((one) => one)
  const { balance, credit, paid, spent } = Option.getOrElse(row, () => NO_WALLET)
  const split: WalletSplit | undefined = spent === null ? undefined : { paid: paid!, credit: credit!, spent }
  return { balance, split }
})

type Nullable<A> = { readonly [K in keyof A]: A[K] | null }

const NO_WALLET = { balance: 0n, paid: null, credit: null, spent: null }

const toSplit = rowReader<WalletSplit>()
