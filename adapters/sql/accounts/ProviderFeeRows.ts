/**
 * A provider's platform fee in its row, and in the rows of its history.
 */
import type { FeeChange, ProviderFee } from "../../../domain/ledger/PlatformFee.ts"
import { toInstant } from "../shared/Instants.ts"

export const FEE_COLUMNS = "p.fee_bps, p.upcoming_fee_bps, p.upcoming_fee_from"

export interface FeeRow {
  readonly fee_bps: number | null
  readonly upcoming_fee_bps: number | null
  readonly upcoming_fee_from: Date | null
}

export const toFee = (row: FeeRow): ProviderFee => ({
  own: row.fee_bps ?? undefined,
  upcoming:
    row.upcoming_fee_from === null
      ? undefined
      : { own: row.upcoming_fee_bps ?? undefined, effectiveFrom: toInstant(row.upcoming_fee_from) }
})

export interface FeeChangeRow extends FeeRow {
  readonly recorded_at: Date
  readonly recorded_by: string
  readonly reason: string | null
}

export const toFeeChange = (row: FeeChangeRow): FeeChange => ({
  fee: toFee(row),
  at: toInstant(row.recorded_at),
  by: row.recorded_by,
  reason: row.reason ?? undefined
})
