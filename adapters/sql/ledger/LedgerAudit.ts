/**
 * Totals of the ledger in PostgreSQL: as stored, and recomputed. One statement each, so that all figures describe the
 * same moment while calls are settled. The fee of a call is recomputed from its id, as `feeOf` does it.
 */
import { Effect } from "effect"
import {
  type AccountTotals,
  type Audit,
  DISCREPANCIES_SHOWN_MAX,
  type Discrepancy
} from "../../../domain/ledger/LedgerStore.ts"
import { MARKET_OWNER } from "../../../domain/ledger/Transfer.ts"
import type { StoreSql } from "../shared/StoreSql.ts"
import { ACCOUNT_CODE, NO_LOT, receiptOfUuid, wordOf } from "./LedgerCodes.ts"

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

export const totalsOf = Effect.fnUntraced(function* (sql: StoreSql) {
  const rows = yield* sql<TotalsRow>`
    SELECT account, sum(credits)::int8 AS credits, sum(debits)::int8 AS debits,
      sum(greatest(debits - credits, 0))::int8 AS overdrawn
    FROM (
      SELECT ${ACCOUNT_CODE.wallet}::int2 AS account, credits, debits FROM wallets
      UNION ALL SELECT account, sum(credits)::int8, sum(debits)::int8 FROM account_totals GROUP BY owner_id, account, day
    ) kept GROUP BY account HAVING sum(credits) > 0 OR sum(debits) > 0 ORDER BY account`
  return rows.map((row): AccountTotals => ({ ...row, account: wordOf(ACCOUNT_CODE, row.account) }))
})

export const auditOf = Effect.fnUntraced(function* (sql: StoreSql) {
  const { consumer_debt, platform_fee, provider, provider_frozen, wallet } = ACCOUNT_CODE
  const rows = yield* sql<AuditRow>`
    WITH moved AS (
      SELECT debit AS account, consumer_id, provider_id, lot, 0::int8 AS credits, amount AS debits
      FROM transfers
      UNION ALL SELECT credit, consumer_id, provider_id, lot, amount, 0 FROM transfers
    ), recomputed AS (
      SELECT account, CASE WHEN account IN (${wallet}::int2, ${consumer_debt}::int2) THEN consumer_id
          WHEN account IN (${provider}::int2, ${provider_frozen}::int2) THEN provider_id ELSE ${MARKET_OWNER}::uuid END
          AS owner_id,
        CASE WHEN account = ${provider}::int2 THEN lot ELSE ${NO_LOT}::date END AS lot,
        sum(credits)::int8 AS credits, sum(debits)::int8 AS debits
      FROM moved GROUP BY 1, 2, 3
    ), open AS (
      SELECT ${wallet}::int2 AS account, consumer_id AS owner_id, ${NO_LOT}::date AS lot, sum(held)::int8 AS held,
        count(*) AS calls
      FROM calls_open GROUP BY 2
    ), kept AS (
      SELECT ${wallet}::int2 AS account, consumer_id AS owner_id, ${NO_LOT}::date AS lot, credits, debits, held
      FROM wallets
      UNION ALL SELECT account, owner_id, day, sum(credits)::int8, sum(debits)::int8, 0 FROM account_totals
      GROUP BY 1, 2, 3
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
    ), compared_fees AS (
      SELECT ${platform_fee}::int2 AS account, receipt_id, ${NO_LOT}::date, figure.*
      FROM fees CROSS JOIN LATERAL (VALUES ('fee', fee, named_fee), ('fee_bps', fee_bps, named_bps))
        AS figure (figure, kept, recomputed)
      WHERE fee <> named_fee OR fee_bps <> named_bps
    ), wrong AS (
      SELECT * FROM (SELECT * FROM compared UNION ALL SELECT * FROM compared_fees) every WHERE kept <> recomputed
      ORDER BY owner_id, account, lot, figure LIMIT ${DISCREPANCIES_SHOWN_MAX}
    )
    SELECT totals.*, wrong.* FROM (
      SELECT (SELECT count(*) FROM transfers) AS transfers, (SELECT count(*) FROM kept) AS accounts,
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
