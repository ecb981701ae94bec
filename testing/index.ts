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
export { callStoreContract } from "./contracts/CallStoreContract.ts"
export { type LedgerStores } from "./contracts/LedgerSamples.ts"
export { ledgerStoreContract } from "./contracts/LedgerStoreContract.ts"
export { healthHistoryStoreContract } from "./contracts/HealthHistoryStoreContract.ts"
export { meterKeyStoreContract } from "./contracts/MeterKeyStoreContract.ts"
export { paymentGatewayContract, type Payers } from "./contracts/PaymentGatewayContract.ts"
export { submissionStoreContract } from "./contracts/SubmissionStoreContract.ts"
export { unfitOutputsContract } from "./contracts/UnfitOutputsContract.ts"
export { waitlistStoreContract } from "./contracts/WaitlistStoreContract.ts"
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
