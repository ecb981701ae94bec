/**
 * The platform fee on the wire.
 */
import { Schema } from "effect"
import { FEE_BASIS_POINTS_MAX } from "../../../domain/ledger/PlatformFee.ts"
import * as Field from "./Field.ts"
import { IntBetween, Text } from "./InputSchemas.ts"
import { providerId } from "./SharedFields.ts"

const FEE_REASON_CHARS_MAX = 500

const isDefault = Field.boolean("Whether it is the default fee of the service.")

/** `whose`: `Platform fee of the provider`. */
export const feeBps = (whose: string) => Field.int(`${whose} in basis points (1/100 of a percent).`, 1_000)

export const defaultFee = {
  platform_fee: Field.string("Default platform fee on each call, as display text.", "10%"),
  platform_fee_bps: feeBps("Default platform fee")
}

const UpcomingFee = Schema.Struct({
  platform_fee_bps: feeBps("Announced platform fee"),
  is_default: isDefault,
  effective_from: Field.timestamp("Time from which it applies to new calls.")
})

export const feeFields = {
  platform_fee_bps: feeBps("Platform fee of the provider"),
  is_default: isDefault,
  upcoming: Field.nullable(UpcomingFee, "Announced increase of the fee. `null`: none.")
}

const ownFee = (whose: string) => Field.nullableInt(`${whose} in basis points. \`null\`: the default fee.`, 750)

const FeeChange = Schema.Struct({
  changed_at: Field.timestamp("Time of the change."),
  changed_by: Field.string("The operator's session, `API key`, or `registration`.", "Ada"),
  reason: Field.nullableString("Reason for the change.", "Agreed for the first year."),
  platform_fee_bps: ownFee("Fee from then on"),
  upcoming: Field.nullable(
    Schema.Struct({
      platform_fee_bps: ownFee("Announced fee"),
      effective_from: Field.timestamp("Time from which it applies, unless a later change replaces it.")
    }),
    "Increase that was announced. `null`: none."
  )
})

export const feeChanges = {
  fee_changes: Field.list(FeeChange, "History of the provider's fee, newest first: at most 50 changes.")
}

export const PlatformFee = Field.object("PlatformFee", "The platform fee of a provider.", {
  provider_id: providerId,
  ...feeFields,
  ...feeChanges
})

export const SetPlatformFee = Field.object("SetPlatformFee", "The fee of a provider.", {
  platform_fee_bps: Field.nullable(
    IntBetween(0, FEE_BASIS_POINTS_MAX),
    "Platform fee of the provider in basis points (1/100 of a percent). `null`: the default fee.",
    750
  ),
  reason: Field.optional(Text(FEE_REASON_CHARS_MAX), "Reason, for the history of the fee and the audit trail.")
})
