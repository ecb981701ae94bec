/**
 * Words of solvency, platform funds and reserves.
 */
import { PROVIDER_ID } from "./SharedWords.ts"
import type { Words } from "./Vocabulary.ts"

export const operatorWords: Words = {
  "Solvency.": ["Whether everything that can be spent or withdrawn is there."],
  spendable_microcents: [
    "Balances that can be spent or withdrawn: wallets, providers' money in every state, platform funds, money in clearing.",
    52_000_000
  ],
  received_microcents: ["What the payment processor received, deposits included.", 60_000_000],
  sent_microcents: ["What the payment processor sent out.", 8_000_000],
  recorded_losses_microcents: [
    "Losses from processor events: chargebacks and refunds that could not be recovered, processor fees beyond platform funds.",
    0
  ],
  shortfall_microcents: ["Recorded losses that the operator still has to fund.", 0],
  unbacked_microcents: ["Spendable money with nothing behind it. Anything but 0 is a fault of the service.", 0],
  platform_funds_microcents: ["Fees that were not withdrawn, and deposits.", 1_200_000],
  platform_funds_cents: ["Fees that were not withdrawn, and deposits, in whole cents.", 12],
  needed_microcents: ["What the movement needs.", 500_000],
  claims_on_providers_microcents: ["What providers owe consumers for refunds.", 0],
  claims_on_platform_microcents: ["What the platform owes consumers of its fees.", 0],
  advanced_microcents: ["What the platform advanced for providers and has not been paid back.", 0],

  "MoveFunds.": ["A movement of the operator's own money."],
  "MoveFunds.action": ["What was done.", "deposit"],
  "MoveFunds.amount_cents": ["How much, in cents.", 50_000],
  "MoveFunds.reference": ["Your name for it. The same one is recorded once.", "wire 2026-11-22"],
  "FundsMoved.": ["What was recorded, and the solvency after it."],
  "FundsMoved.action": ["What was done.", "deposit"],
  "FundsMoved.amount_cents": ["How much, in cents.", 50_000],
  "FundsMoved.reference": ["Your name for it.", "wire 2026-11-22"],
  "FundsMoved.repeated": ["Whether it had been recorded before.", false],
  "FundsMoved.solvency": ["The solvency after it."],
  "SetReserve.": ["Whether a provider's rolling reserve is lifted."],
  "SetReserve.lifted": ["`true`: nothing is reserved any more.", true],
  "SetHandle.": ["The handle that a provider gets."],
  "SetHandle.handle": ["The new handle. It must be free, and must not imitate a verified provider's.", "ada-tools"],
  "SetHandle.retire_previous": ["`true`: the previous handle no longer resolves. By default it still does.", false],
  "ProviderHandle.": ["The handle that the provider has now."],
  "ProviderHandle.handle": ["The new handle.", "ada-tools"],
  previous_handle: ["The handle before. It is given to no other provider.", "ada"],
  previous_retired: ["Whether the previous handle was retired.", false],
  "HandleImitations.": ["Handles that look like the handle of a verified provider."],
  "HandleImitations.handle": ["The handle that imitates.", "ada-t00ls"],
  "HandleImitations.provider_id": ["The provider that has it.", "0193f9c2-7d5e-7a7b-9d3e-2f1a6b7c8d9f"],
  imitations: ["One row for each pair."],
  imitates: ["The verified provider's handle.", "ada-tools"],
  imitated_provider_id: ["The verified provider.", PROVIDER_ID],
  "Unfrozen.": ["The account may spend again."],
  was_frozen: ["Whether it was frozen.", true],
  "Unfrozen.frozen": ["Always false.", false],
  "Reserve.": ["Whether a provider's rolling reserve is lifted."],
  "Reserve.lifted": ["`true`: nothing is reserved any more.", true],

  refunded_microcents: ["What the consumer got back so far.", 2_000],
  outstanding_microcents: ["What is still owed: a claim, paid as soon as the provider earns.", 0],
  frozen_microcents: ["The call's own earnings that wait for the decision.", 1_800],

  maturing_cents: ["Earnings whose delay is not over, in whole cents.", 40],
  available_cents: ["What can be paid out now, in whole cents.", 10],
  reserved_cents: ["The rolling reserve against disputes and chargebacks, in whole cents.", 4],
  frozen_cents: ["What open disputes keep, in whole cents.", 0],
  "Payouts.maturing_microcents": ["Earnings whose delay is not over, exact.", 400_000],
  "Payouts.available_microcents": ["What can be paid out now, exact.", 101_800],
  "Payouts.reserved_microcents": ["The rolling reserve, exact.", 40_000],
  "Payouts.frozen_microcents": ["What open disputes keep, exact.", 0],
  owed_cents: ["What you owe consumers for refunds, in whole cents. Your next earnings pay it.", 0],
  owed_microcents: ["What you owe consumers for refunds, exact.", 0],
  maturities: ["When which part becomes available, soonest first, at most 200."],
  available_on: ["The day from whose beginning (UTC) it can be paid out.", "2026-12-01"],
  "Payouts.from": ["Which state it leaves.", "maturing"],
  reserve_lifted: ["Whether the operator has lifted your rolling reserve.", false]
}
