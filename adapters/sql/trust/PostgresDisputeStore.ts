/**
 * Disputes in PostgreSQL. A partial unique index allows one dispute of a receipt at a time.
 */
import { DateTime, Effect } from "effect"
import type { ProviderId } from "../../../domain/shared/Ids.ts"
import { type Microcents, zero } from "../../../domain/shared/Microcents.ts"
import { pageOf } from "../../../domain/shared/Page.ts"
import type { StoreUnavailable } from "../../../domain/shared/StoreUnavailable.ts"
import {
  type DecidedBy,
  type Dispute,
  DisputeId,
  type DisputeOwner,
  type DisputeStatus,
  DisputeStore,
  type DisputeTally,
  type Party
} from "../../../domain/trust/DisputeStore.ts"
import type { ConsumerRulings } from "../../../domain/trust/PaidCalls.ts"
import { causeOfCode, receiptOfUuid, STATUS_CODE, statusCodeOf, uuidOfReceipt, wordOf } from "../ledger/LedgerCodes.ts"
import { STATUS_OF_CODE } from "../receipts/PostgresReceiptStore.ts"
import { beginsBefore, rowReader, timeIn, toDate, toDateOrNull } from "../shared/Rows.ts"
import { pageById, type StoreSql, storeLayer } from "../shared/StoreSql.ts"

// Rows of disputes, and their integer codes.

/** A dispute with its statements and its decision as columns. */
interface Columns extends Omit<Dispute, "answer" | "cause" | "claim" | "decision" | "outcome"> {
  readonly outcomeCode: number
  readonly claimText: string | undefined
  readonly claimEvidence: string | undefined
  readonly claimReference: string | undefined
  readonly answerText: string | undefined
  readonly answerEvidence: string | undefined
  readonly answeredAt: DateTime.Utc | undefined
  readonly decidedBy: DecidedBy | undefined
  readonly decidedAt: DateTime.Utc | undefined
  readonly paid: Microcents | undefined
  readonly refunded: Microcents | undefined
  readonly note: string | undefined
}

export interface TallyRow {
  readonly total: bigint
  readonly open: bigint
  readonly upheld: bigint
  readonly denied: bigint
  readonly credited: bigint
}

/** Totals over disputes. */
export const TALLY_COLUMNS =
  "count(*) AS total, count(*) FILTER (WHERE status <= 2) AS open, count(*) FILTER (WHERE status = 3) AS upheld, " +
  "count(*) FILTER (WHERE status = 4) AS denied, count(*) FILTER (WHERE status = 5) AS credited"

const STATUS_CODES: Readonly<Record<DisputeStatus, number>> = {
  filed: 1,
  under_review: 2,
  resolved_refund: 3,
  resolved_denied: 4,
  resolved_credit: 5
}

export const FILED_BY_CODE: Readonly<Record<Party, number>> = { agent: 1, provider: 2 }

const toColumns = rowReader<Columns>(
  { dispute_id: "id", outcome: "outcomeCode", settled_on: "lot" },
  {
    filed_by: (code: number) => wordOf(FILED_BY_CODE, code),
    receipt_id: receiptOfUuid,
    status: (code: number) => wordOf(STATUS_CODES, code)
  }
)

const toDispute = (row: object): Dispute => {
  const { answerEvidence, answerText, answeredAt, claimEvidence, claimReference, claimText, ...decided } =
    toColumns(row)
  const { decidedAt, decidedBy, note, outcomeCode, paid, refunded, ...dispute } = decided
  return {
    ...dispute,
    outcome: STATUS_OF_CODE[outcomeCode]!,
    cause: causeOfCode(outcomeCode),
    claim: { text: claimText, evidence: claimEvidence, reference: claimReference },
    answer: answeredAt === undefined ? undefined : { text: answerText, evidence: answerEvidence, at: answeredAt },
    decision:
      decidedAt === undefined || decidedBy === undefined
        ? undefined
        : { by: decidedBy, amount: paid ?? zero, refunded: refunded ?? zero, note, at: decidedAt }
  }
}

export const tallyOf = (row: TallyRow): DisputeTally => ({
  total: Number(row.total),
  open: Number(row.open),
  upheld: Number(row.upheld),
  denied: Number(row.denied),
  credited: Number(row.credited)
})

const toRulings = rowReader<ConsumerRulings>(
  { refunded: "refundedMicrocents" },
  { upheld: Number, denied: Number, refunded_calls: Number }
)

/** Decisions since then about paid calls of a provider, by consumer. */
export const readRulings = (
  sql: StoreSql,
  providerId: ProviderId,
  since: DateTime.Utc
): Effect.Effect<ReadonlyArray<ConsumerRulings>, StoreUnavailable> =>
  sql`
    SELECT consumer_id, count(*) FILTER (WHERE status = 3 AND filed_by = ${FILED_BY_CODE.agent}) AS upheld,
      count(*) FILTER (WHERE status = 4 AND filed_by = ${FILED_BY_CODE.agent}) AS denied,
      count(*) FILTER (WHERE status = 3 AND outcome = ${STATUS_CODE.success}) AS refunded_calls,
      coalesce(sum(paid) FILTER (WHERE status = 3), 0)::int8 AS refunded
    FROM disputes
    WHERE provider_id = ${providerId} AND created_at >= ${toDate(since)} AND cost > 0 AND status IN (3, 4)
    GROUP BY consumer_id`.all(toRulings)

export const layer = storeLayer(DisputeStore, (sql) => {
  const belongsTo = ({ ownerId, role }: DisputeOwner) =>
    role === "consumer" ? sql`consumer_id = ${ownerId}` : sql`provider_id = ${ownerId}`

  const counts = sql.literal(TALLY_COLUMNS)

  const partyOf = ({ role }: DisputeOwner) => (role === "consumer" ? FILED_BY_CODE.agent : FILED_BY_CODE.provider)

  return {
    insert: (dispute) =>
      sql`
        INSERT INTO disputes (dispute_id, receipt_id, consumer_id, provider_id, cost, fee, settled_on, frozen,
          outcome, unfit, reason, filed_by, status, created_at, respond_by, claim_text, claim_evidence, claim_reference)
        VALUES (${dispute.id}, ${uuidOfReceipt(dispute.receiptId)}, ${dispute.consumerId}, ${dispute.providerId},
          ${dispute.cost}, ${dispute.fee}, ${dispute.lot}::date, ${dispute.frozen},
          ${statusCodeOf(dispute.outcome, dispute.cause)}, ${dispute.unfit}, ${dispute.reason},
          ${FILED_BY_CODE[dispute.filedBy]}, ${STATUS_CODES[dispute.status]}, ${toDate(dispute.createdAt)},
          ${toDate(dispute.respondBy)}, ${dispute.claim.text ?? null}, ${dispute.claim.evidence ?? null},
          ${dispute.claim.reference ?? null})
        ON CONFLICT (receipt_id) WHERE status <> 4 DO NOTHING RETURNING dispute_id`.hasRows,

    find: (id) => sql`SELECT * FROM disputes WHERE dispute_id = ${id}`.first(toDispute),

    lock: (id) => sql`SELECT * FROM disputes WHERE dispute_id = ${id} FOR UPDATE`.first(toDispute),

    update: ({ answer, decideBy, decision, id, status }) =>
      sql`
        UPDATE disputes SET status = ${STATUS_CODES[status]}, answer_text = ${answer?.text ?? null},
          answer_evidence = ${answer?.evidence ?? null}, answered_at = ${toDateOrNull(answer?.at)},
          decide_by = ${toDateOrNull(decideBy)},
          decided_by = ${decision?.by ?? null}, decided_at = ${toDateOrNull(decision?.at)},
          paid = ${decision?.amount ?? null}, refunded = ${decision?.refunded ?? null}, note = ${decision?.note ?? null}
        WHERE dispute_id = ${id}`.done,

    list: (owner, status, page) => {
      const where = sql.and([
        owner === undefined ? sql`true` : belongsTo(owner),
        ...(status === undefined ? [] : [sql`status = ${STATUS_CODES[status]}`])
      ])
      return pageById(sql, page, { table: "disputes", id: "dispute_id", where, read: toDispute })
    },

    contested: Effect.fnUntraced(function* (page) {
      const total = yield* sql`SELECT count(*) FROM disputes WHERE status = 2 AND decide_by IS NOT NULL`.number
      const from = timeIn(page)
      const after =
        from === undefined ? sql`true` : sql`(decide_by, dispute_id) > (${from}, ${beginsBefore(page)}::uuid)`
      const rows = yield* sql`
        SELECT * FROM disputes WHERE status = 2 AND decide_by IS NOT NULL AND ${after}
        ORDER BY decide_by, dispute_id LIMIT ${page.limit + 1} OFFSET ${page.offset}`.unprepared.all(toDispute)
      return pageOf(rows, page.limit, total, (last) => ({ key: DateTime.formatIso(last.decideBy!), id: last.id }))
    }),

    due: (now, limit) =>
      sql<{ readonly dispute_id: string }>`
        SELECT dispute_id, respond_by AS due_at FROM disputes WHERE status = 1
          AND (filed_by = ${FILED_BY_CODE.provider} OR respond_by < ${toDate(now)}
            OR (cost > 0 AND (unfit OR outcome IN (${STATUS_CODE.error}, ${STATUS_CODE.timeout}))))
        UNION ALL
        SELECT dispute_id, decide_by AS due_at FROM disputes WHERE status = 2 AND decide_by < ${toDate(now)}
        ORDER BY due_at, dispute_id LIMIT ${limit}`.all((row) => DisputeId.make(row.dispute_id)),

    filedBy: (owner, since) =>
      sql<TallyRow & { readonly last_day: bigint }>`
        SELECT ${counts}, count(*) FILTER (WHERE created_at > ${toDate(since)}) AS last_day
        FROM disputes WHERE ${belongsTo(owner)} AND filed_by = ${partyOf(owner)}`.one((row) => ({
        ...tallyOf(row),
        lastDay: Number(row.last_day)
      })),

    eraseStatements: Effect.fnUntraced(function* (owner) {
      const claims = yield* sql`
        UPDATE disputes SET claim_text = NULL, claim_evidence = NULL, claim_reference = NULL
        WHERE ${belongsTo(owner)} AND filed_by = ${partyOf(owner)}
          AND num_nonnulls(claim_text, claim_evidence, claim_reference) > 0 RETURNING dispute_id`.count
      const answers = yield* sql`
        UPDATE disputes SET answer_text = NULL, answer_evidence = NULL
        WHERE ${belongsTo(owner)} AND filed_by <> ${partyOf(owner)}
          AND num_nonnulls(answer_text, answer_evidence) > 0 RETURNING dispute_id`.count
      return claims + answers
    }),

    against: (providerId, since) =>
      sql<TallyRow>`
        SELECT ${counts} FROM disputes
        WHERE provider_id = ${providerId} AND filed_by = ${FILED_BY_CODE.agent}
          AND created_at >= ${toDate(since)}`.one(tallyOf),

    rulings: (providerId, since) => readRulings(sql, providerId, since)
  }
})
