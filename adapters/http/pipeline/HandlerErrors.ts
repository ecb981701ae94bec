/**
 * What a request can fail with: the errors of the services that handlers call, and those of the pipeline. One without a row
 * in a table of `problems` does not compile.
 */
import type { Effect } from "effect"
import type { Authentication } from "../../../domain/accounts/Authentication.ts"
import type { DefaultCaps } from "../../../domain/accounts/DefaultCaps.ts"
import type { Keys } from "../../../domain/accounts/Keys.ts"
import type { ProviderDirectory } from "../../../domain/accounts/ProviderDirectory.ts"
import type { Catalog } from "../../../domain/catalog/Catalog.ts"
import type { EndpointProbe } from "../../../domain/catalog/EndpointProbe.ts"
import type { ToolImport } from "../../../domain/catalog/ToolImport.ts"
import type { ToolSync } from "../../../domain/catalog/ToolSync.ts"
import type { PayoutRetries, Payouts } from "../../../domain/earnings/Payouts.ts"
import type { InvoicePrinter } from "../../../domain/invoices/Invoice.ts"
import type { Invoicing } from "../../../domain/invoices/Invoicing.ts"
import type { Budgets } from "../../../domain/ledger/Budgets.ts"
import type { PlatformFunds } from "../../../domain/ledger/PlatformFunds.ts"
import type { ReceiptLog } from "../../../domain/log/ReceiptLog.ts"
import type { McpCalls } from "../../../domain/mcp/McpCalls.ts"
import type { Toolbox } from "../../../domain/mcp/Toolbox.ts"
import type { Grants } from "../../../domain/metering/Grants.ts"
import type { Metering } from "../../../domain/metering/Metering.ts"
import type { OperatorSessions } from "../../../domain/operator/OperatorSessions.ts"
import type { Loads } from "../../../domain/payments/Loads.ts"
import type { Withdrawals } from "../../../domain/payments/Withdrawals.ts"
import type { PaymentEvents } from "../../../domain/processor/PaymentEvents.ts"
import type { Handles } from "../../../domain/providers/Handles.ts"
import type { ProviderProfile } from "../../../domain/providers/ProviderProfile.ts"
import type { Registration } from "../../../domain/providers/Registration.ts"
import type { Receipts } from "../../../domain/receipts/Receipts.ts"
import type { IdempotencyConflict, IdempotencyInFlight } from "../../../domain/shared/Idempotency.ts"
import type { Disputes } from "../../../domain/trust/Disputes.ts"
import type { Trust } from "../../../domain/trust/Trust.ts"
import type { Verification } from "../../../domain/trust/Verification.ts"
import type * as Failures from "./Failures.ts"
import type { MetricsRejected } from "./MetricsAccess.ts"

type ErrorOf<Member> = Member extends (...input: never) => infer Returned
  ? ErrorOf<Returned>
  : Member extends Effect.Effect<unknown, infer E, unknown>
    ? E
    : never

type ErrorOfService<S> = S extends { readonly Service: infer Shape }
  ? { [Name in keyof Shape]: ErrorOf<Shape[Name]> }[keyof Shape]
  : never

type ErrorIn<Module> = {
  [Name in keyof Module]: Module[Name] extends abstract new (...input: never) => infer E ? Extract<E, Error> : never
}[keyof Module]

export type HandlerError =
  | ErrorIn<typeof Failures>
  | IdempotencyConflict
  | IdempotencyInFlight
  | MetricsRejected
  | ErrorOfService<Authentication | Registration | ProviderDirectory | Keys | DefaultCaps | Handles | Catalog>
  | ErrorOfService<Metering | McpCalls | Grants | Budgets | Toolbox>
  | ErrorOfService<OperatorSessions | PayoutRetries>
  | ErrorOfService<EndpointProbe | ToolImport | ToolSync>
  | ErrorOfService<Loads | Withdrawals | PlatformFunds | Payouts | PaymentEvents>
  | ErrorOfService<Invoicing | InvoicePrinter>
  | ErrorOfService<Receipts | ReceiptLog | Disputes | Trust | Verification | ProviderProfile>
