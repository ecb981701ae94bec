/**
 * `agent-tool-billing/core`: the five services that do the common work, with their errors and the types of their methods,
 * ids, money, and the layers of the core. Every other service and port is imported from its module, such as
 * `agent-tool-billing/domain/payments/Loads`.
 */
export { Books, BooksMixed, type BooksPort } from "../layers/Books.ts"
export { core } from "../layers/Core.ts"
export { jobs, runJobs } from "../layers/Jobs.ts"

export {
  type CallOutcome,
  CallOverdue,
  type CallQuote,
  type CallReport,
  type CallRequest,
  type Unsettled
} from "../../domain/metering/Call.ts"
export {
  AccountFrozen,
  BudgetExceeded,
  CallConflict,
  CallInFlight,
  type CallRejected,
  CapRequired,
  InsufficientFunds,
  InvalidArguments,
  PriceChanged,
  PriceVersionChanged,
  TooManyCallsWaiting
} from "../../domain/metering/CallRejections.ts"
export { TooManyCallsInFlight } from "../../domain/metering/CallsInFlight.ts"
export type { KeptResult } from "../../domain/metering/CallStore.ts"
export {
  CallTimeRejected,
  CostTooHigh,
  type Metered,
  type MeterOutcome,
  type MeterRejected,
  type MeterRequest,
  NotYours
} from "../../domain/metering/DirectMetering.ts"
export { NoGrant } from "../../domain/metering/Grants.ts"
export { Metering } from "../../domain/metering/Metering.ts"
export { ResultNotRetained } from "../../domain/metering/CallStore.ts"
export {
  ToolAmbiguous,
  ToolNotFound,
  TooManyPins,
  type ToolReference,
  type ToolUnresolved,
  ToolWithdrawn
} from "../../domain/metering/ToolDirectory.ts"
export { SchemaBudgetSpent } from "../../domain/catalog/JsonSchemas.ts"

export {
  type Adjustment,
  Ledger,
  type ProviderBalance,
  type Reversal,
  type TrialBalance,
  type WalletMovement,
  type WalletStatus
} from "../../domain/ledger/Ledger.ts"
export {
  type Audit,
  type ConsumerFunds,
  DuplicateReference,
  InsufficientBalance,
  type Posted
} from "../../domain/ledger/LedgerStore.ts"
export {
  AccountKind,
  type Leg,
  type Lot,
  type Posting,
  type Transfer,
  TransferId,
  TransferKind
} from "../../domain/ledger/Transfer.ts"

export { Receipt, ReceiptStatus } from "../../domain/receipts/Receipts.ts"
export {
  type FinishedCall,
  type ReceiptFilter,
  type ReceiptOwner,
  Receipts,
  SignerUnavailable
} from "../../domain/receipts/Receipts.ts"
export type { Verdict, VerificationReason } from "../../domain/receipts/Receipts.ts"

export type { Sla } from "../../domain/trust/Sla.ts"
export type { CatalogScore } from "../../domain/trust/SlaStore.ts"
export { type ProviderScore, type ProviderSla, ProviderUnknown, Trust } from "../../domain/trust/Trust.ts"
export type { Badge, Scored, Traffic, VerificationLevel } from "../../domain/trust/TrustScore.ts"
export type { Verified } from "../../domain/trust/Challenge.ts"

export type { EarningsPeriod, EarningsSummary } from "../../domain/earnings/Earnings.ts"
export { BelowMinimum, NotOnboarded, type PayoutRejected } from "../../domain/earnings/Payouts.ts"
export { type Connected, type PayoutAnswer, Payouts } from "../../domain/earnings/Payouts.ts"
export { type Payee, type Payout, PayoutState } from "../../domain/earnings/PayoutStore.ts"
export type { ProviderHoldings } from "../../domain/earnings/Earnings.ts"
export {
  type PayeeStatus,
  PaymentFailed,
  PaymentsNotConfigured,
  type Transferred
} from "../../domain/ledger/PaymentGateway.ts"
export { IdempotencyConflict, IdempotencyInFlight } from "../../domain/shared/Idempotency.ts"

export {
  ConsumerId,
  GrantId,
  InvoiceId,
  KeyId,
  LoadId,
  PayoutId,
  ProviderId,
  ReceiptId,
  ToolId,
  WithdrawalId,
  WithdrawalPartId
} from "../../domain/shared/Ids.ts"
export {
  formatDollars,
  formatPrice,
  fromCents,
  Microcents,
  MicrocentsFromInt,
  MICROCENTS_PER_CENT,
  parseDollars,
  toCents,
  zero
} from "../../domain/shared/Microcents.ts"
export type { Page, PageRequest, Position } from "../../domain/shared/Page.ts"
export { StoreUnavailable } from "../../domain/shared/StoreUnavailable.ts"
export { Timestamp } from "../../domain/shared/Time.ts"
