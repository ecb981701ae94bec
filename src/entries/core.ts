/**
 * `agent-tool-billing/core`: the services of the core, the layer that builds them, their settings, errors and types. The
 * layer requires the ports of `agent-tool-billing/ports`; `agent-tool-billing/memory` has all of them but `ToolUpstream`.
 */
export { Books, BooksMixed, type BooksPort } from "../layers/Books.ts"
export { core } from "../layers/Core.ts"
export { jobs } from "../layers/Jobs.ts"

export type {
  Consumer,
  Erasure as AccountErasure,
  PricingModel,
  Provider,
  ProviderChange,
  ProviderFreeze
} from "../../domain/accounts/Account.ts"
export type { ApiKey } from "../../domain/accounts/Keys.ts"
export { Authentication, OperatorKey, Unauthorized } from "../../domain/accounts/Authentication.ts"
export { DefaultCaps } from "../../domain/accounts/DefaultCaps.ts"
export { EndpointBlocked, EndpointGuard } from "../../domain/accounts/EndpointGuard.ts"
export type { Imitation } from "../../domain/accounts/Handle.ts"
export {
  HandleRejected,
  HandleTaken,
  Handles,
  type HandleOrder,
  type HandleRejection,
  type Reassigned
} from "../../domain/providers/Handles.ts"
export {
  ExpiryInThePast,
  KeyNotFound,
  Keys,
  LastKey,
  TooManyKeys,
  type KeyRequest,
  type MintedKey
} from "../../domain/accounts/Keys.ts"
export { PlatformFees, type FeeInEffect } from "../../domain/providers/PlatformFees.ts"
export type { KeyOwner, Principal } from "../../domain/accounts/Principal.ts"
export { RateLimitPolicy, type RateLimits } from "../../domain/accounts/Principal.ts"
export {
  AlreadyRegistered,
  Registration,
  ToolsRejected,
  type ConsumerApplication,
  type ProviderApplication
} from "../../domain/providers/Registration.ts"

export type { CancellationTerm } from "../../domain/catalog/Terms.ts"
export { Catalog, ToolNotYours, type CatalogQuery, type Withdrawn } from "../../domain/catalog/Catalog.ts"
export type { CatalogEntry, CatalogSort, ToolOutcome, ToolState } from "../../domain/catalog/CatalogStore.ts"
export { EndpointProbe, ProbeTimeout, unlistedReason, type EndpointReport } from "../../domain/catalog/EndpointProbe.ts"
export { WithdrawalGrace, type ImportOptions } from "../../domain/catalog/ImportApplication.ts"
export type { ImportPlan } from "../../domain/catalog/ImportPlan.ts"
export type { ImportResult } from "../../domain/catalog/ImportStore.ts"
export { SchemaBudgetSpent, SchemaChecksLimited } from "../../domain/catalog/JsonSchemas.ts"
export { PriceNotice } from "../../domain/catalog/PriceNotice.ts"
export { DefaultFreeTierCalls } from "../../domain/catalog/Terms.ts"
export type { PriceVersion, Terms, ToolPrices } from "../../domain/catalog/Terms.ts"
export type {
  BillingPolicy,
  CanceledCallCosts,
  JsonSchemaObject,
  OnCancel,
  Tool,
  ToolChange,
  ToolDeclaration
} from "../../domain/catalog/Tool.ts"
export { ServerUnreadable, ToolImport } from "../../domain/catalog/ToolImport.ts"
export { ToolSync, type SyncHistory } from "../../domain/catalog/ToolSync.ts"
export type { RejectedTool, UpsertMode, UpsertResult } from "../../domain/catalog/ToolUpserts.ts"
export type { ToolDefinition, ToolVersion } from "../../domain/catalog/CatalogStore.ts"

export { Erasure, type Erased, type ErasureOrder } from "../../domain/erasure/Erasure.ts"
export { AccountNotFound, MoneyInTransit, MoneyRemaining } from "../../domain/erasure/Erasure.ts"

export { Invoice, Month } from "../../domain/invoices/Invoice.ts"
export type { MonthTotals } from "../../domain/invoices/Invoice.ts"
export {
  CreditRejected,
  InvoiceNotFound,
  Invoicing,
  MonthNotOver,
  type Closed as ClosedMonths
} from "../../domain/invoices/Invoicing.ts"

export { AccountKind, type Balance, type Wallet } from "../../domain/ledger/Transfer.ts"
export { BookMode, type Book } from "../../domain/ledger/Book.ts"
export { BookGuard } from "../../domain/ledger/Ledger.ts"
export { BudgetPeriod } from "../../domain/ledger/Budgets.ts"
export { BudgetId, type Budget, type BudgetStatus } from "../../domain/ledger/Budgets.ts"
export { BudgetNotFound, Budgets, TooManyBudgets, type BudgetRequest } from "../../domain/ledger/Budgets.ts"
export {
  Ledger,
  type Adjustment,
  type Caused,
  type ProviderBalance,
  type Reversal,
  type TrialBalance,
  type WalletMovement,
  type WalletStatus
} from "../../domain/ledger/Ledger.ts"
export {
  DuplicateReference,
  InsufficientBalance,
  type AccountTotals,
  type Audit,
  type ConsumerFunds,
  type Discrepancy,
  type Posted
} from "../../domain/ledger/LedgerStore.ts"
export type { Lot, LotPart } from "../../domain/ledger/Transfer.ts"
export type { ReversedLoad, WalletAmount } from "../../domain/ledger/Movements.ts"
export {
  DefaultFeeBasisPoints,
  type FeeChange,
  feeOf,
  type OwnFee,
  type ProviderFee
} from "../../domain/ledger/PlatformFee.ts"
export { FundsTooLow, NoSuchLoss, PlatformFunds, type FundsMovement } from "../../domain/ledger/PlatformFunds.ts"
export type { Solvency } from "../../domain/ledger/Ledger.ts"
export { SolvencyWatch, type SolvencyReading } from "../../domain/earnings/SolvencyWatch.ts"
export { TransferId, TransferKind, type Leg, type Transfer } from "../../domain/ledger/Transfer.ts"

export type { LogProof } from "../../domain/log/Commitment.ts"
export type { Log, NewLog, SequencedReceipt } from "../../domain/log/LogStore.ts"
export type { Hash } from "../../domain/log/MerkleTree.ts"
export {
  LogUnknown,
  NotLoggedYet,
  ReceiptLog,
  ReceiptUnknown,
  TreeSizeUnknown,
  type ReceiptProof
} from "../../domain/log/ReceiptLog.ts"
export { Sequencer } from "../../domain/log/Sequencer.ts"
export { SignedTreeFile } from "../../domain/log/Sequencer.ts"

export type {
  CallOutcome,
  CallQuote,
  CallReport,
  CallRequest,
  McpCallOutcome,
  McpCallRequest
} from "../../domain/metering/Call.ts"
export { McpCalls, type McpCallRejected } from "../../domain/mcp/McpCalls.ts"
export type { CallCause } from "../../domain/receipts/Receipts.ts"
export { CallOverdue, type Unsettled } from "../../domain/metering/Call.ts"
export { aliasCandidates, ALIAS_CHARS_MAX } from "../../domain/mcp/ToolAliases.ts"
export { ToolAliases } from "../../domain/mcp/ToolAliases.ts"
export {
  Toolbox,
  ToolboxFull,
  ToolboxToolsMax,
  ToolNotInToolbox,
  type AliasedTool,
  type ListedTools,
  type ToolboxSource
} from "../../domain/mcp/Toolbox.ts"
export { ToolboxChanges } from "../../domain/mcp/ToolboxChanges.ts"
export type { ToolboxScope } from "../../domain/accounts/ToolboxStore.ts"

export {
  AccountFrozen,
  BudgetExceeded,
  CallConflict,
  CallInFlight,
  CapRequired,
  InsufficientFunds,
  InvalidArguments,
  PriceChanged,
  PriceVersionChanged,
  TooManyCallsWaiting,
  type CallRejected
} from "../../domain/metering/CallRejections.ts"
export type { CallIdempotency, KeptResult, OpenCall } from "../../domain/metering/CallStore.ts"
export type { Agreement } from "../../domain/metering/CallTerms.ts"
export { CallsInFlightMax, TooManyCallsInFlight } from "../../domain/metering/CallsInFlight.ts"
export { CallTimeRejected, CostTooHigh, NotYours, type MeterRejected } from "../../domain/metering/DirectMetering.ts"
export { FreeTiers, type FreeTier } from "../../domain/metering/FreeTiers.ts"
export type { Grant, GrantPeriod, Reservation } from "../../domain/metering/Grants.ts"
export {
  GrantNotFound,
  Grants,
  TooManyGrants,
  UnknownProvider,
  type GrantRequest
} from "../../domain/metering/Grants.ts"
export type { MeterOutcome, MeterRequest, Metered } from "../../domain/metering/DirectMetering.ts"
export { Metering } from "../../domain/metering/Metering.ts"
export type { NamePin } from "../../domain/metering/ToolDirectory.ts"
export { NamePins, TooManyPins } from "../../domain/metering/ToolDirectory.ts"
export { NoGrant, Reservations, type GrantUse } from "../../domain/metering/Grants.ts"
export { ResultNotRetained } from "../../domain/metering/RetainedResults.ts"
export { Sweeper } from "../../domain/metering/Sweeper.ts"
export {
  ToolAmbiguous,
  ToolDirectory,
  ToolNotFound,
  ToolWithdrawn,
  type ToolReference,
  type ToolUnresolved
} from "../../domain/metering/ToolDirectory.ts"
export type {
  CallStatus,
  ToolProgress,
  ToolResult,
  UpstreamProblem,
  UpstreamResponse
} from "../../domain/upstream/ToolUpstream.ts"
export { ProgressMsMax, UpstreamLimits, type UpstreamBounds } from "../../domain/metering/CallTerms.ts"
export {
  Usage,
  type UsageCall,
  type UsageOfDay,
  type UsageOfPeriod,
  type UsageOfTool,
  type UsagePeriod,
  type UsageSummary,
  type UsageTotals
} from "../../domain/metering/Usage.ts"

export { AccountFreezes } from "../../domain/payments/AccountFreezes.ts"
export { RecoveredByChargeback } from "../../domain/payments/ChargebackRecoveries.ts"
export { ChargebackLiability, Chargebacks, type ChargebackEvent } from "../../domain/processor/Chargebacks.ts"
export type { Freeze } from "../../domain/payments/AccountFreezes.ts"
export { LoadLimitReached, NewAccountLoadLimit } from "../../domain/payments/Loads.ts"
export type { Load, LoadState } from "../../domain/payments/Loads.ts"
export { Loads, type LoadRequest, type Loaded } from "../../domain/payments/Loads.ts"
export {
  PaymentFailed,
  PaymentsNotConfigured,
  UntrustedEvent,
  type Checkout,
  type CheckoutOrder,
  type CheckoutStatus,
  type OnboardingLink,
  type PayeeStatus,
  type PaymentEvent,
  type RefundOrder,
  type RefundState,
  type Refunded,
  type TransferOrder,
  type Transferred
} from "../../domain/ledger/PaymentGateway.ts"
export { ProcessorFees } from "../../domain/payments/ProcessorFees.ts"
export { Reconciler } from "../../domain/payments/Reconciler.ts"
export { WithdrawalPartState, type Withdrawal, type WithdrawalPart } from "../../domain/payments/Withdrawals.ts"
export {
  DebtOutstanding,
  NotWithdrawable,
  Withdrawals,
  type WithdrawalRejected,
  type WithdrawalRequest
} from "../../domain/payments/Withdrawals.ts"

export { AuditTrail, type AuditedWork } from "../../domain/operator/AuditTrail.ts"
export {
  OperatorDisabled,
  OperatorSessions,
  SessionEnded,
  type SignedIn,
  WrongOperatorKey
} from "../../domain/operator/OperatorSessions.ts"

export type { EarningStates, Maturity } from "../../domain/earnings/EarningStates.ts"
export type {
  EarningsOfTool,
  EarningsOfWeek,
  EarningsPeriod,
  EarningsSummary,
  EarningsTotals
} from "../../domain/earnings/Earnings.ts"
export {
  CurrentEarningsPolicy,
  DRY_RUN_EARNINGS_POLICY,
  LIVE_EARNINGS_POLICY,
  type EarningsPolicy
} from "../../domain/earnings/EarningStates.ts"
export type { Connected } from "../../domain/earnings/Payouts.ts"
export type { Payee } from "../../domain/earnings/PayoutStore.ts"
export { BelowMinimum, NotOnboarded, type PayoutRejected } from "../../domain/earnings/PayoutOpening.ts"
export { PayoutState, type Payout } from "../../domain/earnings/PayoutStore.ts"
export { Payouts, type PayoutAnswer } from "../../domain/earnings/Payouts.ts"
export { ProviderMoney, type ProviderHoldings } from "../../domain/earnings/ProviderMoney.ts"

export { DiskWatch } from "../../domain/platform/Health.ts"
export { Health, OutsideProbes, type Check, type Condition, type HealthReport } from "../../domain/platform/Health.ts"
export { HealthHistory, type CheckHistory, type DayOfCheck } from "../../domain/platform/HealthHistory.ts"
export { Heartbeats, type Heartbeat, type JobFailure } from "../../domain/platform/Health.ts"
export type { MarketCounts } from "../../domain/platform/PlatformStats.ts"
export { PlatformStats, type PlatformCounts, type PlatformTotals } from "../../domain/platform/PlatformStats.ts"
export { PartDown, type Note, type Probe } from "../../domain/platform/Health.ts"
export type { Submission, SubmissionKind } from "../../domain/platform/Submissions.ts"
export { Submissions } from "../../domain/platform/Submissions.ts"
export { Waitlist } from "../../domain/platform/Submissions.ts"

export { PaymentEvents, type Received } from "../../domain/processor/PaymentEvents.ts"

export { Receipt, ReceiptStatus, canonical } from "../../domain/receipts/Receipt.ts"
export type { ReceiptFilter, ReceiptOwner } from "../../domain/receipts/Receipts.ts"
export { Receipts, type FinishedCall } from "../../domain/receipts/Receipts.ts"
export type { Verdict, VerificationReason } from "../../domain/receipts/Verification.ts"

export type { ClaimTotals } from "../../domain/earnings/Claims.ts"
export { Claims, type SubjectClaims } from "../../domain/earnings/Claims.ts"
export { RefundLossLimitCents, Refunds, type CallToRefund } from "../../domain/earnings/Refunds.ts"

export { Idempotency, IdempotencyConflict, type IdempotentRequest, type Once } from "../../domain/shared/Idempotency.ts"
export { IdempotencyInFlight } from "../../domain/shared/Idempotency.ts"
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
  MICROCENTS_PER_CENT,
  Microcents,
  MicrocentsFromInt,
  formatDollars,
  formatPrice,
  fromCents,
  parseDollars,
  toCents,
  zero
} from "../../domain/shared/Microcents.ts"
export type { Page, PageRequest, Position } from "../../domain/shared/Page.ts"
export { StoreUnavailable } from "../../domain/shared/StoreUnavailable.ts"
export { Timestamp } from "../../domain/shared/Time.ts"

export { VerificationEndpoint, type Challenge } from "../../domain/trust/Challenge.ts"
export {
  DecidedBy,
  DisputeId,
  DisputeReason,
  DisputeStatus,
  Party,
  Resolution,
  type Decision,
  type Dispute,
  type DisputeTally,
  type Statement
} from "../../domain/trust/DisputeStore.ts"
export type { Ruling } from "../../domain/trust/Disputes.ts"
export {
  AlreadyDecided,
  CreditBeyondCost,
  DisputeNotFound,
  NoSuchReceipt,
  NotAnswerable
} from "../../domain/trust/Disputes.ts"
export { AlreadyDisputed, FilingTooLate, NotAParty, TooManyDisputes } from "../../domain/trust/Disputes.ts"
export type { DisputeOwner, FilerRecord } from "../../domain/trust/DisputeStore.ts"
export { Disputes, type Answer, type Filing } from "../../domain/trust/Disputes.ts"
export { TooManyMails } from "../../domain/trust/Verification.ts"
export { MailFailed, MailNotConfigured } from "../../domain/trust/Mailer.ts"
export type { CountedCalls } from "../../domain/trust/PaidCalls.ts"
export type { Evidence, ScoreEvidence } from "../../domain/trust/ProviderEvidence.ts"
export { ProviderTrust } from "../../domain/trust/ProviderTrust.ts"
export type { ScoredDisputes } from "../../domain/trust/PaidCalls.ts"
export type { Sla, SlaDay } from "../../domain/trust/Sla.ts"
export type { CatalogScore, ScoreOfDay } from "../../domain/trust/SlaStore.ts"
export { scoreTraffic, type ObservedCall, type Scored, type Traffic } from "../../domain/trust/TrustScore.ts"
export { ProviderUnknown, Trust, type ProviderScore, type ProviderSla } from "../../domain/trust/Trust.ts"
export type { TrustAdvice } from "../../domain/trust/TrustScore.ts"
export {
  Badge,
  VerificationLevel,
  trustOf,
  type TrustEvidence,
  type TrustScore
} from "../../domain/trust/TrustScore.ts"
export { SubjectRejected, Verification, type Asked } from "../../domain/trust/Verification.ts"
export { TooManyAttempts, type VerificationAnswer } from "../../domain/trust/Verification.ts"
export type { ProofKind, ProofLevel, Verified } from "../../domain/trust/VerificationStore.ts"
