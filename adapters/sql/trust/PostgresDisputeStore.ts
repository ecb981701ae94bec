/**
 * Disputes in PostgreSQL. A partial unique index allows one dispute of a receipt at a time.
 */
import { DateTime, Effect, Layer } from "effect"
import { pageOf } from "../../../domain/shared/Page.ts"
import { DisputeId, type DisputeOwner, DisputeStore } from "../../../domain/trust/DisputeStore.ts"
import { STATUS_CODE, statusCodeOf, uuidOfReceipt } from "../ledger/LedgerCodes.ts"
import { toDate, toDateOrNull } from "../shared/Instants.ts"
import { beginsBefore, timeIn } from "../shared/NewestFirst.ts"
import { storeSql } from "../shared/StoreSql.ts"
import {
  type DisputeRow,
  FILED_BY_CODE,
  readRulings,
  STATUS_CODES,
  TALLY_COLUMNS,
  tallyOf,
  type TallyRow,
  toDispute
} from "./DisputeRows.ts"

export const layer = Layer.effect(
  DisputeStore,
  Effect.gen(function* () {
    const sql = yield* storeSql

    const belongsTo = ({ ownerId, role }: DisputeOwner) =>
      role === "consumer" ? sql`consumer_id = ${ownerId}` : sql`provider_id = ${ownerId}`

    const counts = sql.literal(TALLY_COLUMNS)

    const partyOf = ({ role }: DisputeOwner) => (role === "consumer" ? FILED_BY_CODE.agent : FILED_BY_CODE.provider)

    return DisputeStore.of({
      insert: Effect.fn("PostgresDisputeStore.insert")(
        (dispute) =>
          sql`
            INSERT INTO disputes (dispute_id, receipt_id, consumer_id, provider_id, cost, fee, settled_on, frozen,
              outcome, unfit, reason, filed_by, status, created_at, respond_by, claim_text, claim_evidence)
            VALUES (${dispute.id}, ${uuidOfReceipt(dispute.receiptId)}, ${dispute.consumerId}, ${dispute.providerId},
              ${dispute.cost}, ${dispute.fee}, ${dispute.lot}::date, ${dispute.frozen},
              ${statusCodeOf(dispute.outcome, dispute.cause)}, ${dispute.unfit}, ${dispute.reason},
              ${FILED_BY_CODE[dispute.filedBy]}, ${STATUS_CODES[dispute.status]}, ${toDate(dispute.createdAt)},
              ${toDate(dispute.respondBy)}, ${dispute.claim.text ?? null}, ${dispute.claim.evidence ?? null})
            ON CONFLICT (receipt_id) WHERE status <> 4 DO NOTHING RETURNING dispute_id`.hasRows
      ),

      find: (id) => sql<DisputeRow>`SELECT * FROM disputes WHERE dispute_id = ${id}`.first(toDispute),

      lock: (id) => sql<DisputeRow>`SELECT * FROM disputes WHERE dispute_id = ${id} FOR UPDATE`.first(toDispute),

      update: Effect.fn("PostgresDisputeStore.update")(
        ({ answer, decideBy, decision, id, status }) => sql`
          UPDATE disputes SET status = ${STATUS_CODES[status]}, answer_text = ${answer?.text ?? null},
            answer_evidence = ${answer?.evidence ?? null}, answered_at = ${toDateOrNull(answer?.at)},
            decide_by = ${toDateOrNull(decideBy)},
            decided_by = ${decision?.by ?? null}, decided_at = ${toDateOrNull(decision?.at)},
            paid = ${decision?.amount ?? null}, refunded = ${decision?.refunded ?? null}, note = ${decision?.note ?? null}
          WHERE dispute_id = ${id}`,
        Effect.asVoid
      ),

      list: Effect.fn("PostgresDisputeStore.list")(function* (owner, status, page) {
        const where = sql.and([
          owner === undefined ? sql`true` : belongsTo(owner),
          ...(status === undefined ? [] : [sql`status = ${STATUS_CODES[status]}`])
        ])
        const total = yield* sql<{ readonly total: bigint }>`
          SELECT count(*) AS total FROM disputes WHERE ${where}`.unprepared.one((row) => Number(row.total))
        const rows = yield* sql<DisputeRow>`
          SELECT * FROM disputes WHERE ${where} AND dispute_id < ${beginsBefore(page)}
          ORDER BY dispute_id DESC LIMIT ${page.limit + 1} OFFSET ${page.offset}`.unprepared.all(toDispute)
        return pageOf(rows, page.limit, total, (last) => ({ key: "", id: last.id }))
      }),

      contested: Effect.fn("PostgresDisputeStore.contested")(function* (page) {
        const total = yield* sql<{ readonly total: bigint }>`
          SELECT count(*) AS total FROM disputes WHERE status = 2 AND decide_by IS NOT NULL`.one((row) =>
          Number(row.total)
        )
        const from = timeIn(page)
        const after =
          from === undefined ? sql`true` : sql`(decide_by, dispute_id) > (${from}, ${beginsBefore(page)}::uuid)`
        const rows = yield* sql<DisputeRow>`
          SELECT * FROM disputes WHERE status = 2 AND decide_by IS NOT NULL AND ${after}
          ORDER BY decide_by, dispute_id LIMIT ${page.limit + 1} OFFSET ${page.offset}`.unprepared.all(toDispute)
        return pageOf(rows, page.limit, total, (last) => ({ key: DateTime.formatIso(last.decideBy!), id: last.id }))
      }),

      due: Effect.fn("PostgresDisputeStore.due")((now, limit) =>
        sql<{ readonly dispute_id: string }>`
          SELECT dispute_id, respond_by AS due_at FROM disputes WHERE status = 1
            AND (filed_by = ${FILED_BY_CODE.provider} OR respond_by < ${toDate(now)}
              OR (cost > 0 AND (unfit OR outcome IN (${STATUS_CODE.error}, ${STATUS_CODE.timeout}))))
          UNION ALL
          SELECT dispute_id, decide_by AS due_at FROM disputes WHERE status = 2 AND decide_by < ${toDate(now)}
          ORDER BY due_at, dispute_id LIMIT ${limit}`.all((row) => DisputeId.make(row.dispute_id))
      ),

      filedBy: Effect.fn("PostgresDisputeStore.filedBy")((owner, since) =>
        sql<TallyRow & { readonly last_day: bigint }>`
          SELECT ${counts}, count(*) FILTER (WHERE created_at > ${toDate(since)}) AS last_day
          FROM disputes WHERE ${belongsTo(owner)} AND filed_by = ${partyOf(owner)}`.one((row) => ({
          ...tallyOf(row),
          lastDay: Number(row.last_day)
        }))
      ),

      eraseStatements: Effect.fn("PostgresDisputeStore.eraseStatements")(function* (owner) {
        const claims = yield* sql`
          UPDATE disputes SET claim_text = NULL, claim_evidence = NULL
          WHERE ${belongsTo(owner)} AND filed_by = ${partyOf(owner)}
            AND num_nonnulls(claim_text, claim_evidence) > 0 RETURNING dispute_id`.count
        const answers = yield* sql`
          UPDATE disputes SET answer_text = NULL, answer_evidence = NULL
          WHERE ${belongsTo(owner)} AND filed_by <> ${partyOf(owner)}
            AND num_nonnulls(answer_text, answer_evidence) > 0 RETURNING dispute_id`.count
        return claims + answers
      }),

      against: Effect.fn("PostgresDisputeStore.against")((providerId, since) =>
        sql<TallyRow>`
          SELECT ${counts} FROM disputes
          WHERE provider_id = ${providerId} AND filed_by = ${FILED_BY_CODE.agent}
            AND created_at >= ${toDate(since)}`.one(tallyOf)
      ),

      rulings: (providerId, since) => readRulings(sql, providerId, since)
    })
  })
)
