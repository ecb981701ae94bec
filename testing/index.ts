/**
 * For tests of programs that embed the core: a market in memory, scripted ports, builders, assertions on the money, and
 * contracts that your own adapters must keep. Entry: `agent-tool-billing/testing`.
 */
export { aCall, type CallOptions } from "./ACall.ts"
export { aConsumer, type ConsumerOptions, type TestConsumer } from "./AConsumer.ts"
export { assertBalanced, assertSolvent } from "./Books.ts"
export { aProvider, aTool, type ProviderOptions, type TestProvider, type TestTool, type ToolOptions } from "./ATool.ts"
export { declineCheckout, payCheckout } from "./Checkouts.ts"
export { type Contract, type Rule, rule } from "./Contract.ts"
export { type Books } from "./contracts/CallSamples.ts"
export { accountStoreContract } from "./contracts/AccountStoreContract.ts"
export { callStoreContract } from "./contracts/CallStoreContract.ts"
export { catalogStoreContract } from "./contracts/CatalogStoreContract.ts"
export { claimStoreContract } from "./contracts/ClaimStoreContract.ts"
export { disputeStoreContract } from "./contracts/DisputeStoreContract.ts"
export { freezeStoreContract } from "./contracts/FreezeStoreContract.ts"
export { grantStoreContract } from "./contracts/GrantStoreContract.ts"
export { handleStoreContract } from "./contracts/HandleStoreContract.ts"
export { healthHistoryStoreContract } from "./contracts/HealthHistoryStoreContract.ts"
export { idempotencyStoreContract } from "./contracts/IdempotencyStoreContract.ts"
export { invoiceStoreContract } from "./contracts/InvoiceStoreContract.ts"
export { keyStoreContract } from "./contracts/KeyStoreContract.ts"
export { ledgerBookContract } from "./contracts/LedgerBookContract.ts"
export { ledgerStoreContract } from "./contracts/LedgerStoreContract.ts"
export { loadStoreContract } from "./contracts/LoadStoreContract.ts"
export { meterKeyStoreContract } from "./contracts/MeterKeyStoreContract.ts"
export { namePinStoreContract } from "./contracts/NamePinStoreContract.ts"
export { payeeStoreContract } from "./contracts/PayeeStoreContract.ts"
export { paymentGatewayContract, type Payers } from "./contracts/PaymentGatewayContract.ts"
export { payoutStoreContract } from "./contracts/PayoutStoreContract.ts"
export { providerEvidenceContract } from "./contracts/ProviderEvidenceContract.ts"
export { receiptStoreContract } from "./contracts/ReceiptStoreContract.ts"
export { slaStoreContract } from "./contracts/SlaStoreContract.ts"
export { submissionStoreContract } from "./contracts/SubmissionStoreContract.ts"
export { unfitOutputsContract } from "./contracts/UnfitOutputsContract.ts"
export { unitOfWorkContract } from "./contracts/UnitOfWorkContract.ts"
export { usageStoreContract } from "./contracts/UsageStoreContract.ts"
export { verificationStoreContract } from "./contracts/VerificationStoreContract.ts"
export { waitlistStoreContract } from "./contracts/WaitlistStoreContract.ts"
export { withdrawalStoreContract } from "./contracts/WithdrawalStoreContract.ts"
export { type LedgerStores } from "./contracts/LedgerSamples.ts"
export { market, type Market, type MarketOptions } from "./Market.ts"
export { GatewayScript, layer as scriptedGateway, type Mishap, type Script } from "./ScriptedGateway.ts"
export {
  answers,
  answersText,
  answersWithError,
  fails,
  layer as scriptedUpstream,
  neverAnswers,
  type ToolBehavior,
  ToolScript
} from "./ScriptedUpstream.ts"
export { layer as seededEntropy } from "./SeededEntropy.ts"
