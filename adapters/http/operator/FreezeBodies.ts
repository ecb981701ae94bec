/**
 * Freezes of accounts, and retries of failed payouts, on the wire.
 */
import { PayoutState } from "../../../domain/earnings/PayoutStore.ts"
import { PayoutId } from "../../../domain/shared/Ids.ts"
import * as Field from "../contract/Field.ts"
import { Note, Text } from "../contract/InputSchemas.ts"
import { KEY_ID } from "../contract/SampleValues.ts"
import { consumerId, providerId } from "../contract/SharedFields.ts"

const FREEZE_REASON_CHARS_MAX = 500

export const Freeze = Field.object("Freeze", "Why the account is frozen.", {
  reason: Field.of(Note(FREEZE_REASON_CHARS_MAX), "Reason. The account's owner sees it.", "Fraud is suspected.")
})

export const Unfreeze = Field.object("Unfreeze", "Why the account is unfrozen.", {
  reason: Field.optional(Text(FREEZE_REASON_CHARS_MAX), "Reason, for the audit trail.")
})

export const UnfreezeProvider = Field.object("UnfreezeProvider", "Why the provider is unfrozen.", {
  reason: Field.of(Note(FREEZE_REASON_CHARS_MAX), "Reason, for the audit trail.", "The suspicion was unfounded.")
})

export const Frozen = Field.object("Frozen", "The account is frozen.", {
  consumer_id: consumerId,
  frozen: Field.always(true),
  was_frozen: Field.boolean("Whether the account was frozen before.", false),
  reason: Field.string("Reason for the freeze.", "Fraud is suspected.")
})

export const FrozenProvider = Field.object("FrozenProvider", "The provider is frozen.", {
  provider_id: providerId,
  frozen: Field.always(true),
  was_frozen: Field.boolean("Whether the provider was frozen before.", false),
  reason: Field.string("Reason for the freeze.", "Fraud is suspected.")
})

export const UnfrozenProvider = Field.object("UnfrozenProvider", "The provider is not frozen.", {
  provider_id: providerId,
  frozen: Field.always(false),
  was_frozen: Field.boolean("Whether the provider was frozen.")
})

export const RetryPayout = Field.object("RetryPayout", "Why the payout is retried.", {
  reason: Field.of(
    Note(FREEZE_REASON_CHARS_MAX),
    "Reason, for the audit trail.",
    "The provider has completed its account."
  )
})

export const RetriedPayout = Field.object("RetriedPayout", "The payout that replaces the failed one.", {
  payout_id: Field.of(PayoutId, "ID of the new payout.", KEY_ID),
  retried_payout_id: Field.of(PayoutId, "ID of the failed payout.", KEY_ID.replace(/.$/u, "f")),
  provider_id: providerId,
  amount_cents: Field.int("Amount in cents: what the provider has available now.", 12_500),
  state: Field.of(PayoutState, "How far the payout is.", "paid"),
  failure: Field.nullableString("Why the payout failed. `null`: it did not."),
  repeated: Field.boolean("Whether the payout existed before this request.", false)
})

export const Unfrozen = Field.object("Unfrozen", "The account is not frozen.", {
  consumer_id: consumerId,
  frozen: Field.always(false),
  was_frozen: Field.boolean("Whether the account was frozen.")
})
