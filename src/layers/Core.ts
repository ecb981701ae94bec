/**
 * All services of the core, which require their ports.
 */
import { Effect, Layer } from "effect"
import { Authentication } from "../../domain/accounts/Authentication.ts"
import { DefaultCaps } from "../../domain/accounts/DefaultCaps.ts"
import { Keys } from "../../domain/accounts/Keys.ts"
import { Levels } from "../../domain/accounts/Levels.ts"
import { Catalog } from "../../domain/catalog/Catalog.ts"
import { Claims } from "../../domain/earnings/Claims.ts"
import { ProviderMoney } from "../../domain/earnings/Earnings.ts"
import { Payouts } from "../../domain/earnings/Payouts.ts"
import { Refunds } from "../../domain/earnings/Refunds.ts"
import { SolvencyWatch } from "../../domain/earnings/SolvencyWatch.ts"
import { Erasure } from "../../domain/erasure/Erasure.ts"
import { Invoicing } from "../../domain/invoices/Invoicing.ts"
import { Budgets } from "../../domain/ledger/Budgets.ts"
import { BookGuard, Ledger } from "../../domain/ledger/Ledger.ts"
import { PlatformFunds } from "../../domain/ledger/PlatformFunds.ts"
import { ReceiptLog } from "../../domain/log/ReceiptLog.ts"
import { makeSequencer, Sequencer } from "../../domain/log/Sequencer.ts"
import { McpCalls } from "../../domain/mcp/McpCalls.ts"
import { CallTally } from "../../domain/metering/CallsInFlight.ts"
import { FreeTiers } from "../../domain/metering/FreeTiers.ts"
import { Grants, Reservations } from "../../domain/metering/Grants.ts"
import { Metering } from "../../domain/metering/Metering.ts"
import { Sweeper } from "../../domain/metering/Sweeper.ts"
import { ToolDirectory } from "../../domain/metering/ToolDirectory.ts"
import { Usage } from "../../domain/metering/Usage.ts"
import { AccountFreezes } from "../../domain/payments/AccountFreezes.ts"
import { ChargebackRecoveries } from "../../domain/payments/ChargebackRecoveries.ts"
import { Loads } from "../../domain/payments/Loads.ts"
import { ProcessorFees } from "../../domain/payments/ProcessorFees.ts"
import { Reconciler } from "../../domain/payments/Reconciler.ts"
import { Withdrawals } from "../../domain/payments/Withdrawals.ts"
import { Health, Heartbeats } from "../../domain/platform/Health.ts"
import { HealthHistory } from "../../domain/platform/HealthHistory.ts"
import { PlatformStats } from "../../domain/platform/PlatformStats.ts"
import { Submissions, Waitlist } from "../../domain/platform/Submissions.ts"
import { Chargebacks } from "../../domain/processor/Chargebacks.ts"
import { PaymentEvents } from "../../domain/processor/PaymentEvents.ts"
import { Handles } from "../../domain/providers/Handles.ts"
import { PlatformFees } from "../../domain/providers/PlatformFees.ts"
import { Registration } from "../../domain/providers/Registration.ts"
import { Receipts } from "../../domain/receipts/Receipts.ts"
import { Idempotency } from "../../domain/shared/Idempotency.ts"
import { Disputes } from "../../domain/trust/Disputes.ts"
import { ProviderTrust } from "../../domain/trust/ProviderTrust.ts"
import { Trust } from "../../domain/trust/Trust.ts"
import { Verification } from "../../domain/trust/Verification.ts"
import { wholeBooks } from "./Books.ts"

/** Providers' money and claims. */
export const recovery = Layer.merge(SolvencyWatch.layer, Refunds.layer).pipe(
  Layer.provideMerge(Layer.merge(Claims.layer, PlatformFunds.layer)),
  Layer.provideMerge(ProviderMoney.layer),
  Layer.provideMerge(Ledger.layer)
)

const foundations = Layer.mergeAll(
  Handles.layer,
  PlatformFees.layer,
  Keys.layer,
  Catalog.layer,
  recovery,
  Grants.layer,
  Receipts.layer,
  Reservations.layer,
  Idempotency.layer,
  BookGuard.layer
)

const disputes = Disputes.layer.pipe(Layer.provide(ChargebackRecoveries.layer))

const money = Layer.mergeAll(PaymentEvents.layer, Reconciler.layer).pipe(
  Layer.provideMerge(Layer.mergeAll(Loads.layer, Chargebacks.layer, Withdrawals.layer, Payouts.layer)),
  Layer.provideMerge(Layer.mergeAll(AccountFreezes.layer, ProcessorFees.layer, disputes))
)

const platform = Layer.mergeAll(PlatformStats.layer, Submissions.layer, Waitlist.layer, HealthHistory.layer).pipe(
  Layer.provideMerge(Health.layer),
  Layer.provideMerge(Heartbeats.layer)
)

const directory = ToolDirectory.layer.pipe(Layer.provideMerge(foundations))

/** The SLA and trust figures process every receipt in the unit of work that sequences it. */
const sequencing = Layer.effect(
  Sequencer,
  Effect.flatMap(ProviderTrust, ({ follow }) => makeSequencer({ follow }))
).pipe(Layer.provideMerge(ProviderTrust.layer), Layer.provideMerge(Trust.layer))

/** Every service of the core, on the ports that you provide. Fails with `BooksMixed` if stores do not share their data. */
export const core = Layer.mergeAll(
  Registration.layer,
  Erasure.layer,
  DefaultCaps.layer,
  Levels.layer,
  Authentication.layer,
  Metering.layer,
  McpCalls.layer,
  Sweeper.layer,
  Usage.layer,
  FreeTiers.layer,
  money,
  Invoicing.layer,
  ReceiptLog.layer,
  sequencing,
  Budgets.layer,
  Verification.layer,
  platform
).pipe(Layer.provideMerge(directory), Layer.provideMerge(CallTally.layer), Layer.provide(wholeBooks))
