/**
 * What clients and a provider recorded, compared with the ledger in the database: findings in words, none where
 * everything is consistent.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { uuidOfReceipt } from "../../../adapters/sql/ledger/LedgerCodes.ts"
import { type Acknowledged, isKeyed } from "./CallLoad.ts"
import type { EchoProvider } from "./EchoProvider.ts"

export interface Evidence {
  readonly acknowledged: ReadonlyArray<Acknowledged>
  readonly provider: Pick<EchoProvider, "invocations">
}

export interface LedgerFindings {
  readonly findings: ReadonlyArray<string>
  readonly receipts: number
  readonly charged: number
  readonly open: number
}

interface ReceiptRow {
  readonly id: string
  readonly cost: bigint
  readonly fee: bigint
}

const SHOWN_MAX = 20

export const booksAfter = Effect.fnUntraced(function* ({ acknowledged, provider }: Evidence) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`SELECT count_receipts(1000000)`
  const rows = yield* sql<ReceiptRow>`
    SELECT r.receipt_id::text AS id, r.cost, r.fee FROM receipts r`
  const open = yield* sql<{ readonly id: string }>`SELECT invocation_id::text AS id FROM calls_open`
  const wallets = yield* sql<{ readonly id: string; readonly figure: string }>`
    SELECT w.consumer_id::text AS id, concat_ws(' ', w.credits, w.debits, w.held) AS figure FROM wallets w
    WHERE w.debits <> (SELECT coalesce(sum(r.cost), 0) FROM receipts r WHERE r.consumer_id = w.consumer_id)
      OR w.held <> (SELECT coalesce(sum(o.held), 0) FROM calls_open o WHERE o.consumer_id = w.consumer_id)`
  // What calls credited to providers, by settlement day, and to the platform. Lane 0 belongs to postings.
  const accounts = yield* sql<{ readonly id: string; readonly figure: string }>`
    SELECT owner_id::text AS id, concat_ws(' ', account, day, kept.amount, moved.amount) AS figure FROM (
      SELECT owner_id, account, day, sum(credits) AS amount FROM account_balances WHERE lane <> 0 GROUP BY 1, 2, 3
    ) kept FULL JOIN (
      SELECT provider_id AS owner_id, 2::int2 AS account, (created_at AT TIME ZONE 'UTC')::date AS day,
        sum(cost - fee) AS amount
      FROM receipts WHERE cost > fee GROUP BY 1, 3
      UNION ALL
      SELECT '00000000-0000-0000-0000-000000000000', 3, '1970-01-01', sum(fee) FROM receipts WHERE fee > 0 HAVING sum(fee) > 0
    ) moved USING (owner_id, account, day)
    WHERE kept.amount IS DISTINCT FROM moved.amount`

  const findings: Array<string> = []
  const byId = new Map<string, ReceiptRow>()
  for (const row of rows) {
    if (byId.has(row.id)) findings.push(`two receipts ${row.id}`)
    byId.set(row.id, row)
    if (row.fee < 0n || row.fee > row.cost) findings.push(`receipt ${row.id} of ${row.cost} has a fee of ${row.fee}`)
  }
  for (const { figure, id } of wallets) findings.push(`wallet ${id} does not add up: ${figure}`)
  for (const { figure, id } of accounts) findings.push(`account of ${id} does not add up: ${figure}`)
  findings.push(...unbooked(acknowledged, byId), ...astray(provider, byId, new Set(open.map(({ id }) => id))))
  const charged = rows.filter(({ cost }) => cost > 0n).length
  const found: LedgerFindings = {
    findings: findings.slice(0, SHOWN_MAX),
    receipts: rows.length,
    charged,
    open: open.length
  }
  return found
})

/** Whatever a client received is in the ledger too; and no two calls received one receipt. */
const unbooked = (acknowledged: ReadonlyArray<Acknowledged>, byId: ReadonlyMap<string, ReceiptRow>): Array<string> => {
  const findings: Array<string> = []
  const told = new Set<string>()
  for (const { call, cost, receiptId } of acknowledged) {
    const row = byId.get(uuidOfReceipt(receiptId as never))
    if (row?.cost !== cost) findings.push(`${call} was told of ${receiptId} over ${cost}: it is ${row?.cost}`)
    if (told.has(receiptId)) findings.push(`${receiptId} was told twice, of ${call} too`)
    told.add(receiptId)
  }
  return findings
}

/**
 * A forwarded call has a receipt or is still open; a call with a key was charged at most once, however often it was
 * repeated.
 */
const astray = (
  { invocations }: Evidence["provider"],
  byId: ReadonlyMap<string, ReceiptRow>,
  open: ReadonlySet<string>
): Array<string> => {
  const findings: Array<string> = []
  for (const [call, ids] of invocations) {
    const uuids = [...new Set(ids)].map((id) => uuidOfReceipt(id as never))
    for (const id of uuids)
      if (!byId.has(id) && !open.has(id)) findings.push(`${call} was forwarded as ${id}: no trace`)
    const charges = uuids.filter((id) => (byId.get(id)?.cost ?? 0n) > 0n).length
    if (isKeyed(call) && charges > 1) findings.push(`${call} was charged ${charges} times`)
  }
  return findings
}
