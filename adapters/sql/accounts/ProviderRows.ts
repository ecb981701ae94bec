/**
 * Rows of providers, and the freeze in them.
 */
import type { Provider, ProviderFreeze } from "../../../domain/accounts/Account.ts"
import { toInstant } from "../shared/Instants.ts"
import { rowReader } from "../shared/RowReader.ts"

export interface FrozenRow {
  readonly frozen_at: Date | null
  readonly frozen_reason: string | null
}

export const toFreeze = ({ frozen_at: at, frozen_reason: reason }: FrozenRow): ProviderFreeze | undefined =>
  at === null || reason === null ? undefined : { reason, at: toInstant(at) }

export const PROVIDER_COLUMNS =
  "id, handle, name, email, endpoint_url, description, pricing_model, default_price_microcents, features_off, created_at, " +
  "frozen_at, frozen_reason"

const toFields = rowReader<Provider>({ default_price_microcents: "defaultPrice" })

/** Of `PROVIDER_COLUMNS`. */
export const toProvider = ({ frozen_at, frozen_reason, ...row }: FrozenRow): Provider => {
  const frozen = toFreeze({ frozen_at, frozen_reason })
  return frozen === undefined ? toFields(row) : { ...toFields(row), frozen }
}
