/**
 * Rows of transfers.
 */
import { MARKET_OWNER, type Transfer, TransferId } from "../../../domain/ledger/Transfer.ts"
import { ConsumerId, ProviderId } from "../../../domain/shared/Ids.ts"
import { Microcents } from "../../../domain/shared/Microcents.ts"
import { toInstant } from "../shared/Instants.ts"
import { ACCOUNT_CODE, TRANSFER_CODE, wordOf } from "./LedgerCodes.ts"

export interface TransferRow {
  readonly transfer_id: string
  readonly leg: number
  readonly consumer_id: string
  readonly provider_id: string | null
  readonly kind: number
  readonly debit: number
  readonly credit: number
  readonly amount: bigint
  readonly lot: string | null
  readonly effective_at: Date
  readonly recorded_at: Date
  readonly reference: string | null
}

export const toTransfer = (row: TransferRow): Transfer => {
  return {
    transferId: TransferId.make(row.transfer_id),
    leg: row.leg,
    kind: wordOf(TRANSFER_CODE, row.kind),
    debit: wordOf(ACCOUNT_CODE, row.debit),
    credit: wordOf(ACCOUNT_CODE, row.credit),
    amount: Microcents.make(row.amount),
    consumerId: row.consumer_id === MARKET_OWNER ? undefined : ConsumerId.make(row.consumer_id),
    providerId: row.provider_id === null ? undefined : ProviderId.make(row.provider_id),
    lot: row.lot ?? undefined,
    reference: row.reference ?? undefined,
    effectiveAt: toInstant(row.effective_at),
    recordedAt: toInstant(row.recorded_at)
  }
}
