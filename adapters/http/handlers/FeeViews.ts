/**
 * The platform fee as the API shows it.
 */
import type { FeeInEffect } from "../../../domain/accounts/PlatformFees.ts"
import { feePercent } from "../../../domain/ledger/PlatformFee.ts"
import { format } from "../../../domain/shared/Timestamp.ts"

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

export const defaultFeeView = (basisPoints: number) => ({
  platform_fee: feePercent(basisPoints),
  platform_fee_bps: basisPoints
})
