/**
 * `agent-tool-billing/ports`: what the core requires, for your own adapters, with the types and the pure rules that an
 * adapter needs. The comments on a port specify it.
 */

export { AccountStore } from "../../domain/accounts/Account.ts"
export { HandleStore, type HandleClaim } from "../../domain/accounts/Handle.ts"
export { KeyStore, type KeyWithOwner } from "../../domain/accounts/Keys.ts"

export { CatalogStore, type CatalogFilter, type ToolUpsert } from "../../domain/catalog/CatalogStore.ts"
export type { VersionsKept } from "../../domain/catalog/CatalogStore.ts"
export {
  ImportStore,
  type ImportedTool,
  type ImportRecord,
  type SyncSettings,
  type SyncState
} from "../../domain/catalog/ImportStore.ts"
export {
  InvalidJsonSchema,
  JsonSchemas,
  type SchemaUse,
  type SchemaViolation
} from "../../domain/catalog/JsonSchemas.ts"
export { MarketFigures, type MarketTotals, type ToolFigures } from "../../domain/catalog/MarketFigures.ts"

export {
  InvoiceLine,
  InvoiceOwner,
  Movement,
  type DraftInvoice,
  type OwnerMonth
} from "../../domain/invoices/Invoice.ts"
export { InvoicePrinter, PdfNotConfigured } from "../../domain/invoices/Invoice.ts"
export { InvoiceStore, type InvoiceOwnerId, type MonthSpan } from "../../domain/invoices/Invoice.ts"

export { mayBeOverdrawn } from "../../domain/ledger/Transfer.ts"
export { DRY_RUN, WrongBook } from "../../domain/ledger/Book.ts"
export { BudgetStore } from "../../domain/ledger/Budgets.ts"
export { DISCREPANCIES_SHOWN_MAX, LedgerStore } from "../../domain/ledger/LedgerStore.ts"
export { changesOf, faultOf, sameContent } from "../../domain/ledger/Transfer.ts"
export { LOTS_PER_POSTING_MAX, lotDayOf, mergedParts, remainingIn, takeFrom } from "../../domain/ledger/Transfer.ts"
export type { Posting } from "../../domain/ledger/Transfer.ts"

export {
  ProviderServers,
  ServerFailed,
  type ListClient,
  type ListedTool,
  type PassedReply,
  type PassedRequest,
  type ServerAddress,
  type ServerEvent,
  type ServerProfile,
  type ToolList
} from "../../domain/upstream/ProviderServers.ts"

export { LogSigner } from "../../domain/log/LogStore.ts"
export { LogStore, type Appended, type LogPlace, type LoggedReceipt } from "../../domain/log/LogStore.ts"
export { LogHome } from "../../domain/log/Sequencer.ts"
export type { Tile, TilePlace } from "../../domain/log/Tiles.ts"

export { McpSessionStore, McpStreamStore, type McpSession, type StoredEvent } from "../../domain/mcp/McpStores.ts"
export type { UpstreamSession } from "../../domain/upstream/Protocol.ts"

export {
  CallStore,
  type CallFunds,
  type CloseCall,
  type Closed as ClosedCall,
  type Earlier,
  type FreeCalls,
  type Opened,
  type OverdueCall,
  type Resumed,
  type StoredOutcome
} from "../../domain/metering/CallStore.ts"
export type { ResumeCall, SuspendCall, Suspended } from "../../domain/metering/CallStore.ts"
export { GrantStore } from "../../domain/metering/Grants.ts"
export { MeterKeyStore, type MeterKey } from "../../domain/metering/DirectMetering.ts"
export { NamePinStore, type PinFound } from "../../domain/metering/ToolDirectory.ts"
export { ProviderSecrets } from "../../domain/metering/ProviderSecrets.ts"
export { ToolUpstream, type UpstreamCall } from "../../domain/upstream/ToolUpstream.ts"
export { UnfitOutputs, type UnfitOutput } from "../../domain/metering/Settlement.ts"
export { UsageStore, type UsageFilter, type UsageOfToolDay } from "../../domain/metering/Usage.ts"

export { ToolAliasStore } from "../../domain/mcp/ToolAliases.ts"
export { ToolboxStore } from "../../domain/accounts/ToolboxStore.ts"

export { ChargebackStore, type Chargeback } from "../../domain/payments/AccountFreezes.ts"
export { FreezeStore } from "../../domain/payments/AccountFreezes.ts"
export { LoadStore, type PaidLoad, type Reversal as LoadReversal } from "../../domain/payments/Loads.ts"
export { CURRENCY, CheckoutReturn } from "../../domain/payments/Loads.ts"
export { PaymentGateway } from "../../domain/ledger/PaymentGateway.ts"
export { PaidFunds, type SpentAt, type WalletSplit } from "../../domain/ledger/PaidFunds.ts"
export { SpendingByLot, type EarnedFrom } from "../../domain/payments/SpendingByLot.ts"
export { WithdrawalStore } from "../../domain/payments/Withdrawals.ts"

export { AccountSearch } from "../../domain/operator/AccountSearch.ts"
export {
  AuditTrailStore,
  type AuditEntry,
  AuditEntryId,
  AuditedAction,
  type AuditFilter
} from "../../domain/operator/AuditTrail.ts"
export {
  OperatorSessionStore,
  type OperatorSession,
  OperatorSessionId,
  type SessionTimes
} from "../../domain/accounts/Principal.ts"

export { PayeeStore } from "../../domain/earnings/PayoutStore.ts"
export { PayoutStore, type PayoutFilter } from "../../domain/earnings/PayoutStore.ts"

export { HealthHistoryStore, type HealthSamples } from "../../domain/platform/HealthHistory.ts"
export { PlatformFigures } from "../../domain/platform/PlatformStats.ts"
export { SchemaKeeper, type SchemaState, type SchemaUpdate } from "../../domain/platform/Health.ts"
export { StoreWatch, type StoreBacklog, type StoreConnections } from "../../domain/platform/Health.ts"
export { SubmissionStore } from "../../domain/platform/Submissions.ts"
export { WaitlistStore, type WaitlistEntry } from "../../domain/platform/Submissions.ts"

export { ReceiptSigner, SignerUnavailable } from "../../domain/receipts/Receipts.ts"
export { ReceiptStore, type Settled } from "../../domain/receipts/Receipts.ts"

export { ClaimId, type Claim } from "../../domain/earnings/Claims.ts"
export { ClaimStore } from "../../domain/earnings/Claims.ts"

export { Change, ChangeFeed, onEachChange } from "../../domain/shared/ChangeFeed.ts"
export { Digest } from "../../domain/shared/Cryptography.ts"
export { Entropy } from "../../domain/shared/Cryptography.ts"
export { IdempotencyStore, type ClaimResult, type IdempotencyClaim } from "../../domain/shared/Idempotency.ts"
export { pageOf } from "../../domain/shared/Page.ts"
export { Sealer } from "../../domain/shared/Cryptography.ts"
export { UnitOfWork } from "../../domain/shared/StoreUnavailable.ts"

export type { CallTask, FinalTask, ListedTask, TaskProgress } from "../../domain/tasks/CallTask.ts"
export { type TaskCaller, type TaskPosition, TaskStore } from "../../domain/tasks/CallTask.ts"

export { DisputeStore } from "../../domain/trust/DisputeStore.ts"
export type { Latencies } from "../../domain/trust/Latencies.ts"
export { Mailer, type Mail } from "../../domain/trust/Mailer.ts"
export type { PaidCalls, PaidDay } from "../../domain/trust/PaidCalls.ts"
export { ProofReader, ProofUnreadable } from "../../domain/trust/Verification.ts"
export { ProviderEvidence } from "../../domain/trust/ProviderEvidence.ts"
export type { ConsumerRulings } from "../../domain/trust/PaidCalls.ts"
export type { SlaHour } from "../../domain/trust/Sla.ts"
export { SlaStore, type Followed, type Pair, type ToolCalls } from "../../domain/trust/SlaStore.ts"
export { VerificationStore, type Proof } from "../../domain/trust/VerificationStore.ts"
