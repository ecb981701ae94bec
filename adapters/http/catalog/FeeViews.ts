/**
 * The platform fee as the API shows it.
 */
import { type FeeChange, feePercent } from "../../../domain/ledger/PlatformFee.ts"
import type { FeeInEffect } from "../../../domain/providers/PlatformFees.ts"
import { format } from "../../../domain/shared/Time.ts"

export const feeView = ({ basisPoints, isDefault, upcoming }: FeeInEffect) => ({
  platform_fee_bps: basisPoints,
  is_default: isDefault,
  upcoming:
    upcoming === undefined
      ? null
      : {
          platform_fee_bps: upcoming.basisPoints,
          is_default: upcoming.isDefault,
          effective_from: format(upcoming.effectiveFrom)
        }
})

export const feeChangesView = (history: ReadonlyArray<FeeChange>) => ({
  fee_changes: history.map(({ at, by, fee: { own, upcoming }, reason }) => ({
    changed_at: format(at),
    changed_by: by,
    reason: reason ?? null,
    platform_fee_bps: own ?? null,
    upcoming:
      upcoming === undefined
        ? null
        : { platform_fee_bps: upcoming.own ?? null, effective_from: format(upcoming.effectiveFrom) }
  }))
})

export const defaultFeeView = (basisPoints: number) => ({
  platform_fee: feePercent(basisPoints),
  platform_fee_bps: basisPoints
})
