/**
 * The platform fee on the wire.
 */
import { Schema } from "effect"
import * as Field from "./Field.ts"
import { providerId } from "./SharedFields.ts"

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

export const PlatformFee = Field.object("PlatformFee", "The platform fee of a provider.", {
  provider_id: providerId,
  ...feeFields
})
