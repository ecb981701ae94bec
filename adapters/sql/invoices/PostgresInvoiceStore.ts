/**
 * Invoices in PostgreSQL. The database computes a month's totals. Numbering documents locks the row of the month and
 * then the counter of the series.
 */
import { type DateTime, Effect, Schema } from "effect"
import {
  type DraftInvoice,
  Invoice,
  type InvoiceLine,
  type InvoiceOwner,
  InvoiceStore,
  type Month,
  type MonthSpan,
  type MonthTotals,
  type Movement,
  numberIn,
  type OwnerMonth,
  seriesOf
} from "../../../domain/invoices/Invoice.ts"
import { format } from "../../../domain/shared/Time.ts"
import { ACCOUNT_CODE, TRANSFER_CODE, wordOf } from "../ledger/LedgerCodes.ts"
import { column, columnsOf, OID } from "../shared/Columns.ts"
import { rowReader, toDate } from "../shared/Rows.ts"
import { pageById, type StoreSql, storeLayer } from "../shared/StoreSql.ts"

const ROLE = { consumer: 1, provider: 2 } as const

interface OwnerRow {
  readonly role: number
  readonly owner_id: string
  readonly name: string
  readonly email: string
}

/** The row has the columns of `InvoiceLine`, too. */
interface LineRow {
  readonly role: number
  readonly owner_id: string
}

interface MovementRow {
  readonly role: number
  readonly owner_id: string
  readonly kind: number
  readonly amount: bigint
}

const ownerOf = (row: OwnerRow): InvoiceOwner => ({
  role: row.role === ROLE.consumer ? "consumer" : "provider",
  id: row.owner_id,
  name: row.name,
  email: row.email
})

const toLine = rowReader<InvoiceLine>(
  {},
  { calls: Number, billed_calls: Number, free_calls: Number, failed_calls: Number }
)

const linesOf = (rows: ReadonlyArray<LineRow>): ReadonlyArray<InvoiceLine> =>
  rows.map(({ owner_id: _, role: __, ...line }) => toLine(line))

const movementsOf = (rows: ReadonlyArray<MovementRow>): ReadonlyArray<Movement> =>
  rows.map((row) => ({ kind: wordOf(TRANSFER_CODE, row.kind) as Movement["kind"], amount: row.amount }))

// A month's totals: its calls by consumer, tool and price, and all other movements of balances. A call belongs to the
// month in which it was recorded, as do its transfers. What earlier parts of the month cover is left out.

const stageMonth = Effect.fnUntraced(function* (sql: StoreSql, { end, month, start }: MonthSpan, part: number) {
  // A provider's own test calls have its own id, which is not a consumer's, and cost nothing.
  yield* sql`
    INSERT INTO invoice_usage (month, part, consumer_id, provider_id, tool_id, price_version, tool_name, calls, billed,
      free, failed, amount, fee)
    SELECT ${month}, ${part}::int4, n.consumer_id, n.provider_id, n.tool_id, n.price_version, n.tool_name,
      n.calls - coalesce(earlier.calls, 0), n.billed - coalesce(earlier.billed, 0), n.free - coalesce(earlier.free, 0),
      n.failed - coalesce(earlier.failed, 0), n.amount - coalesce(earlier.amount, 0), n.fee - coalesce(earlier.fee, 0)
    FROM (
      SELECT r.consumer_id, r.provider_id, r.tool_id, r.price_version, min(r.tool_name) AS tool_name, count(*) AS calls,
        count(*) FILTER (WHERE r.cost > 0) AS billed, count(*) FILTER (WHERE r.cost = 0 AND r.status = 1) AS free,
        count(*) FILTER (WHERE r.cost = 0 AND r.status <> 1) AS failed, sum(r.cost)::int8 AS amount, sum(r.fee)::int8 AS fee
      FROM receipts r
      WHERE r.created_at >= ${toDate(start)} AND r.created_at < ${toDate(end)} AND r.consumer_id <> r.provider_id
      GROUP BY r.consumer_id, r.provider_id, r.tool_id, r.price_version
    ) n LEFT JOIN (
      SELECT consumer_id, provider_id, tool_id, price_version, sum(calls)::int8 AS calls, sum(billed)::int8 AS billed,
        sum(free)::int8 AS free, sum(failed)::int8 AS failed, sum(amount)::int8 AS amount, sum(fee)::int8 AS fee
      FROM invoice_usage WHERE month = ${month} GROUP BY consumer_id, provider_id, tool_id, price_version
    ) earlier USING (consumer_id, provider_id, tool_id, price_version)
    WHERE n.calls > coalesce(earlier.calls, 0)`.unprepared
  const { provider, provider_frozen, wallet } = ACCOUNT_CODE
  const { freeze } = TRANSFER_CODE
  yield* sql`
    INSERT INTO invoice_movements (month, part, owner_id, role, kind, amount)
    SELECT ${month}, ${part}::int4, owner_id, role, kind, n.amount - coalesce(earlier.amount, 0) FROM (
    SELECT owner_id, role, kind, sum(amount)::int8 AS amount FROM (
      SELECT consumer_id AS owner_id, ${ROLE.consumer}::int2 AS role, kind,
        CASE WHEN credit = ${wallet}::int2 THEN amount ELSE -amount END AS amount
      FROM posted_transfers WHERE recorded_at >= ${toDate(start)} AND recorded_at < ${toDate(end)}
        AND (credit = ${wallet}::int2 OR debit = ${wallet}::int2)
      UNION ALL
      SELECT provider_id, ${ROLE.provider}::int2, kind,
        CASE WHEN credit = ${provider}::int2 THEN amount ELSE -amount END
      FROM posted_transfers WHERE recorded_at >= ${toDate(start)} AND recorded_at < ${toDate(end)}
        AND (credit = ${provider}::int2 OR debit IN (${provider}::int2, ${provider_frozen}::int2))
        AND kind <> ${freeze}::int2
    ) moved GROUP BY owner_id, role, kind) n LEFT JOIN (
      SELECT owner_id, role, kind, sum(amount)::int8 AS amount FROM invoice_movements WHERE month = ${month}
      GROUP BY owner_id, role, kind
    ) earlier USING (owner_id, role, kind)
    WHERE earlier.amount IS NULL OR earlier.amount <> n.amount`.unprepared
  // Loads alone need no document.
  yield* sql`
    INSERT INTO invoice_pending (month, role, owner_id)
    SELECT DISTINCT ${month}, ${ROLE.consumer}::int2, consumer_id FROM invoice_usage
      WHERE month = ${month} AND part = ${part}
    UNION SELECT ${month}, ${ROLE.provider}::int2, provider_id FROM invoice_usage
      WHERE month = ${month} AND part = ${part}
    UNION SELECT ${month}, role, owner_id FROM invoice_movements
      WHERE month = ${month} AND part = ${part} AND kind = 4`.unprepared
})

interface DocumentRow {
  readonly document: string
}

const Document = Schema.fromJsonString(Schema.toCodecJson(Invoice))
const decode = Schema.decodeSync(Document)
const toInvoice = (row: DocumentRow): Invoice => decode(row.document)
const written = Schema.encodeSync(Document)

export const layer = storeLayer(InvoiceStore, (sql) => {
  const lockMonth = Effect.fnUntraced(function* (month: Month) {
    yield* sql`INSERT INTO invoice_months (month) VALUES (${month}) ON CONFLICT DO NOTHING`
    const [row] = yield* sql<{ readonly staged: boolean; readonly complete: boolean; readonly part: number }>`
      SELECT staged_at IS NOT NULL AS staged, completed_at IS NOT NULL AS complete, part
      FROM invoice_months WHERE month = ${month} FOR UPDATE`
    return row!
  })

  const stage = Effect.fnUntraced(function* (span: MonthSpan) {
    const { part, staged } = yield* lockMonth(span.month)
    if (staged) return
    yield* stageMonth(sql, span, part)
    yield* sql`UPDATE invoice_months SET staged_at = now() WHERE month = ${span.month}`
  }, sql.withTransaction)

  const reopen = Effect.fnUntraced(function* (span: MonthSpan) {
    const { complete, part } = yield* lockMonth(span.month)
    if (!complete) return false
    yield* stageMonth(sql, span, part + 1)
    const left = yield* sql`SELECT FROM invoice_pending WHERE month = ${span.month} LIMIT 1`
    if (left.length === 0) return false
    yield* sql`UPDATE invoice_months SET part = ${part + 1}, staged_at = now(), completed_at = NULL
      WHERE month = ${span.month}`
    return true
  }, sql.withTransaction)

  const pending = Effect.fnUntraced(function* ({ month }: MonthSpan, limit: number) {
    const owners = yield* sql<OwnerRow & { readonly part: number }>`
      SELECT p.role, p.owner_id, (SELECT part FROM invoice_months WHERE month = ${month}) AS part, coalesce(c.name, v.name, '') AS name, coalesce(c.email, v.email, '') AS email
      FROM invoice_pending p
      LEFT JOIN consumers c ON p.role = ${ROLE.consumer} AND c.id = p.owner_id
      LEFT JOIN providers v ON p.role = ${ROLE.provider} AND v.id = p.owner_id
      WHERE p.month = ${month} ORDER BY p.role, p.owner_id LIMIT ${limit}`
    if (owners.length === 0) return []
    const { part } = owners[0]!
    const idsOf = (role: number) =>
      column(
        owners.filter((owner) => owner.role === role).map((owner) => owner.owner_id),
        OID.uuid
      )
    const lines = yield* sql<LineRow>`
      SELECT u.role, u.owner_id, u.tool_id, u.tool_name, v.name AS provider, u.price_version,
        coalesce(t.price_microcents, 0) AS unit_price, u.calls, u.billed AS billed_calls, u.free AS free_calls,
        u.failed AS failed_calls, u.amount, u.fee FROM (
        SELECT ${ROLE.consumer}::int2 AS role, consumer_id AS owner_id, tool_id, provider_id, price_version,
          min(tool_name) AS tool_name, sum(calls)::int8 AS calls, sum(billed)::int8 AS billed, sum(free)::int8 AS free,
          sum(failed)::int8 AS failed, sum(amount)::int8 AS amount, sum(fee)::int8 AS fee
        FROM invoice_usage WHERE month = ${month} AND part = ${part} AND consumer_id = ANY (${idsOf(ROLE.consumer)})
        GROUP BY 1, 2, 3, 4, 5
        UNION ALL
        SELECT ${ROLE.provider}::int2, provider_id, tool_id, provider_id, price_version,
          min(tool_name), sum(calls)::int8, sum(billed)::int8, sum(free)::int8, sum(failed)::int8, sum(amount)::int8,
          sum(fee)::int8
        FROM invoice_usage WHERE month = ${month} AND part = ${part} AND provider_id = ANY (${idsOf(ROLE.provider)})
        GROUP BY 1, 2, 3, 4, 5
      ) u JOIN providers v ON v.id = u.provider_id
      LEFT JOIN tool_prices t ON t.tool_id = u.tool_id AND t.version = u.price_version
      ORDER BY u.tool_name COLLATE "C", u.tool_id, u.price_version`
    const movements = yield* sql<MovementRow>`
      SELECT role, owner_id, kind, amount FROM invoice_movements WHERE month = ${month} AND part = ${part}
        AND amount <> 0
        AND ((role = ${ROLE.consumer} AND owner_id = ANY (${idsOf(ROLE.consumer)}))
          OR (role = ${ROLE.provider} AND owner_id = ANY (${idsOf(ROLE.provider)})))
      ORDER BY kind`
    const linesBy = Map.groupBy(lines, (line) => `${line.role} ${line.owner_id}`)
    const movementsBy = Map.groupBy(movements, (movement) => `${movement.role} ${movement.owner_id}`)
    return owners.map((owner): OwnerMonth => {
      const key = `${owner.role} ${owner.owner_id}`
      return {
        owner: ownerOf(owner),
        lines: linesOf(linesBy.get(key) ?? []),
        movements: movementsOf(movementsBy.get(key) ?? []),
        isSupplement: part > 1
      }
    })
  })

  /** The next numbers of a series. Other units of work that need numbers wait until this one ends. */
  const take = Effect.fnUntraced(function* (series: string, many: number) {
    const [row] = yield* sql<{ readonly count: bigint }>`
      INSERT INTO invoice_counters AS c (series, count) VALUES (${series}, ${BigInt(many)})
      ON CONFLICT (series) DO UPDATE SET count = c.count + excluded.count RETURNING count`
    return Number(row!.count) - many + 1
  })

  const known = Effect.fnUntraced(function* (month: Month, part: number, drafts: ReadonlyArray<DraftInvoice>) {
    const owners = columnsOf(drafts).uuid((draft) => draft.owner.id)
    return new Set(
      yield* sql<{ readonly kind: string; readonly owner_id: string }>`
        SELECT kind, owner_id FROM invoices
        WHERE month = ${month} AND part = ${part} AND owner_id = ANY (${owners}) AND corrects IS NULL`.all(
        (row) => `${row.kind} ${row.owner_id}`
      )
    )
  })

  const finalise = Effect.fnUntraced(function* (
    month: Month,
    drafts: ReadonlyArray<DraftInvoice>,
    issuedAt: DateTime.Utc
  ) {
    const { part } = yield* lockMonth(month)
    const there = yield* known(month, part, drafts)
    const fresh = drafts.filter(
      (draft) => draft.corrects !== undefined || !there.has(`${draft.kind} ${draft.owner.id}`)
    )
    const made: Array<Invoice> = []
    // The order is always this one, so that two months at once cannot deadlock.
    for (const [series, ofSeries] of [...Map.groupBy(fresh, seriesOf)].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
      let next = yield* take(series, ofSeries.length)
      for (const draft of ofSeries) {
        made.push({ ...draft, number: numberIn(series, next++), issuedAt: format(issuedAt) })
      }
    }
    if (made.length > 0) yield* insert(made, part)
    const done = drafts.filter((draft) => draft.corrects === undefined)
    yield* sql`DELETE FROM invoice_pending WHERE month = ${month} AND owner_id = ANY (${columnsOf(done).uuid((draft) => draft.owner.id)}) AND role = ANY (${columnsOf(done).int2((draft) => ROLE[draft.owner.role])})`
    return made
  }, sql.withTransaction)

  const insert = (made: ReadonlyArray<Invoice>, part: number) => sql`
    INSERT INTO invoices (part, invoice_id, number, kind, month, owner_id, corrects, total, document)
    SELECT ${part}::int4, fresh.* FROM unnest(
      ${columnsOf(made).uuid((one) => one.id)}, ${columnsOf(made).text((one) => one.number)},
      ${columnsOf(made).text((one) => one.kind)}, ${columnsOf(made).text((one) => one.month)},
      ${columnsOf(made).uuid((one) => one.owner.id)}, ${columnsOf(made).uuid((one) => one.corrects ?? null)},
      ${columnsOf(made).int8((one) => one.total)}, ${columnsOf(made).text((one) => written(one))})
      AS fresh (invoice_id, number, kind, month, owner_id, corrects, total, document)`

  return {
    openCallsBefore: (instant) => sql`SELECT count(*) FROM calls_open WHERE opened_at < ${toDate(instant)}`.number,

    stage,
    reopen,
    pending,
    finalise,

    isComplete: (month) => sql`SELECT FROM invoice_months WHERE month = ${month} AND completed_at IS NOT NULL`.hasRows,

    complete: (month, at) => sql`UPDATE invoice_months SET completed_at = ${toDate(at)} WHERE month = ${month}`.done,

    totals: ({ end, month, start }) =>
      sql`
        SELECT count(*) AS documents,
          coalesce(sum(total) FILTER (WHERE kind = 'invoice'), 0)::int8 AS invoices,
          coalesce(sum(total) FILTER (WHERE kind = 'statement'), 0)::int8 AS statements,
          (SELECT coalesce(sum(cost), 0)::int8 FROM receipts
            WHERE created_at >= ${toDate(start)} AND created_at < ${toDate(end)})
            + (SELECT coalesce(sum(debits), 0)::int8 FROM archived_totals WHERE month = ${month}) AS ledger
        FROM invoices WHERE month = ${month}`.unprepared.one(rowReader<MonthTotals>({}, { documents: Number })),

    find: (id) => sql<DocumentRow>`SELECT document FROM invoices WHERE invoice_id = ${id}`.first(toInvoice),

    lockCredited: Effect.fnUntraced(function* (id) {
      // A row lock would need the UPDATE privilege on invoices.
      yield* sql`SELECT pg_advisory_xact_lock(hashtextextended(${`invoices ${id}`}, 0))`
      return yield* sql<{ readonly credited: bigint }>`
        SELECT coalesce(sum(total), 0)::int8 AS credited FROM invoices WHERE corrects = ${id}`.one(
        ({ credited }) => credited
      )
    }),

    list: (owner, page) =>
      pageById(sql, page, {
        table: "invoices",
        columns: "document",
        id: "invoice_id",
        where: sql`owner_id = ${owner}`,
        read: toInvoice
      })
  }
})
