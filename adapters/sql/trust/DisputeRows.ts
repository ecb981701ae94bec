/**
 * Rows of disputes, and their integer codes.
 */
import type { DateTime, Effect } from "effect"
import { ConsumerId, ProviderId } from "../../../domain/shared/Ids.ts"
import { Microcents, zero } from "../../../domain/shared/Microcents.ts"
import type { StoreUnavailable } from "../../../domain/shared/StoreUnavailable.ts"
import {
  type DecidedBy,
  type Dispute,
  DisputeId,
  type DisputeReason,
  type DisputeStatus,
  type DisputeTally,
  type Party
} from "../../../domain/trust/DisputeStore.ts"
import type { ConsumerRulings } from "../../../domain/trust/PaidCalls.ts"
import { causeOfCode, receiptOfUuid, STATUS_CODE, wordOf } from "../ledger/LedgerCodes.ts"
import { STATUS_OF_CODE } from "../receipts/ReceiptQueries.ts"
import { toDate, toInstant, toInstantOrUndefined } from "../shared/Instants.ts"
import { rowReader } from "../shared/RowReader.ts"
import type { StoreSql } from "../shared/StoreSql.ts"

export interface DisputeRow {
  readonly dispute_id: string
  readonly receipt_id: string
  readonly consumer_id: string
  readonly provider_id: string
  readonly cost: bigint
  readonly fee: bigint
  readonly settled_on: string
  readonly frozen: bigint
  readonly outcome: number
  readonly unfit: boolean
  readonly reason: string
  readonly filed_by: number
  readonly status: number
  readonly created_at: Date
  readonly respond_by: Date
  readonly decide_by: Date | null
  readonly claim_text: string | null
  readonly claim_evidence: string | null
  readonly answer_text: string | null
  readonly answer_evidence: string | null
  readonly answered_at: Date | null
  readonly decided_by: string | null
  readonly decided_at: Date | null
  readonly paid: bigint | null
  readonly refunded: bigint | null
  readonly note: string | null
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

export const STATUS_CODES: Readonly<Record<DisputeStatus, number>> = {
  filed: 1,
  under_review: 2,
  resolved_refund: 3,
  resolved_denied: 4,
  resolved_credit: 5
}

export const FILED_BY_CODE: Readonly<Record<Party, number>> = { agent: 1, provider: 2 }

export const toDispute = (row: DisputeRow): Dispute => ({
  id: DisputeId.make(row.dispute_id),
  receiptId: receiptOfUuid(row.receipt_id),
  consumerId: ConsumerId.make(row.consumer_id),
  providerId: ProviderId.make(row.provider_id),
  cost: Microcents.make(row.cost),
  fee: Microcents.make(row.fee),
  lot: row.settled_on,
  frozen: Microcents.make(row.frozen),
  outcome: STATUS_OF_CODE[row.outcome]!,
  cause: causeOfCode(row.outcome),
  unfit: row.unfit,
  reason: row.reason as DisputeReason,
  filedBy: wordOf(FILED_BY_CODE, row.filed_by),
  claim: { text: row.claim_text ?? undefined, evidence: row.claim_evidence ?? undefined },
  answer:
    row.answered_at === null
      ? undefined
      : {
          text: row.answer_text ?? undefined,
          evidence: row.answer_evidence ?? undefined,
          at: toInstant(row.answered_at)
        },
  status: wordOf(STATUS_CODES, row.status),
  decision:
    row.decided_at === null
      ? undefined
      : {
          by: row.decided_by as DecidedBy,
          amount: row.paid === null ? zero : Microcents.make(row.paid),
          refunded: row.refunded === null ? zero : Microcents.make(row.refunded),
          note: row.note ?? undefined,
          at: toInstant(row.decided_at)
        },
  createdAt: toInstant(row.created_at),
  respondBy: toInstant(row.respond_by),
  decideBy: toInstantOrUndefined(row.decide_by)
})

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
