/**
 * Response types of the API, derived from its contract.
 */
import type { AccountsApi } from "../../http/accounts/AccountsApi.ts"
import type { CatalogApi } from "../../http/catalog/CatalogApi.ts"
import type { CallsApi } from "../../http/metering/CallsApi.ts"
import type { DisputesApi } from "../../http/trust/DisputesApi.ts"
import type { ImportApi } from "../../http/catalog/ImportApi.ts"
import type { InvoicesApi } from "../../http/invoices/InvoicesApi.ts"
import type { MeteringApi } from "../../http/metering/MeteringApi.ts"
import type { MoneyApi } from "../../http/payments/MoneyApi.ts"
import type { PayoutsApi } from "../../http/earnings/PayoutsApi.ts"
import type { ReceiptsApi } from "../../http/receipts/ReceiptsApi.ts"
import type { ToolBody } from "../../http/catalog/ToolBody.ts"
import type { ToolboxApi } from "../../http/toolbox/ToolboxApi.ts"
import type { TrustApi } from "../../http/trust/TrustApi.ts"

/** Amounts are whole numbers of microcents in JSON. */
type Wire<A> = A extends bigint
  ? number
  : A extends string | number | boolean | null | undefined
    ? A
    : { readonly [K in keyof A]: Wire<A[K]> }

export type Response<E extends { readonly "~Success": { readonly Type: unknown } }> = Wire<E["~Success"]["Type"]>

export type Keys = Response<typeof AccountsApi.endpoints.listKeys>
export type Profile = Response<typeof AccountsApi.endpoints.providerProfile>
export type NewKey = Response<typeof AccountsApi.endpoints.createKey>
export type WhoAmI = Response<typeof AccountsApi.endpoints.whoAmI>
export type RegisteredConsumer = Response<typeof AccountsApi.endpoints.registerConsumer>
export type RegisteredProvider = Response<typeof AccountsApi.endpoints.registerProvider>

export type ConsumerOverview = Response<typeof MoneyApi.endpoints.overview>
export type ProviderOverview = Response<typeof PayoutsApi.endpoints.overview>
export type Balance = Response<typeof MoneyApi.endpoints.balance>
export type LoadResponse = Response<typeof MoneyApi.endpoints.load>
export type WithdrawalList = Response<typeof MoneyApi.endpoints.listWithdrawals>
export type WithdrawalResponse = Response<typeof MoneyApi.endpoints.withdraw>
export type Budgets = Response<typeof MoneyApi.endpoints.listBudgets>
export type Grants = Response<typeof MeteringApi.endpoints.listGrants>
export type UsagePage = Response<typeof CallsApi.endpoints.usageV1>
export type UsageSummary = Response<typeof CallsApi.endpoints.usageSummaryV1>
type ProxyResponse = Response<typeof CallsApi.endpoints.proxy>
export type FreeTiers = Response<typeof CallsApi.endpoints.freeTiers>
export type CallDetails = Response<typeof ReceiptsApi.endpoints.call>
export type ReceiptResponse = Response<typeof ReceiptsApi.endpoints.find>

export type Earnings = Response<typeof PayoutsApi.endpoints.providerSummary>
export type Connection = Response<typeof PayoutsApi.endpoints.connection>
export type ConnectResponse = Response<typeof PayoutsApi.endpoints.connect>
export type PayoutResponse = Response<typeof PayoutsApi.endpoints.requestPayout>
export type Payouts = Response<typeof PayoutsApi.endpoints.payouts>

export type Invoices = Response<typeof InvoicesApi.endpoints.list>
export type Disputes = Response<typeof DisputesApi.endpoints.list>
export type Sla = Response<typeof TrustApi.endpoints.sla>
export type ToolSla = Response<typeof TrustApi.endpoints.toolSla>
export type Trust = Response<typeof TrustApi.endpoints.score>
export type VerifyResponse = Response<typeof TrustApi.endpoints.verify>
export type ToolDetails = Response<typeof CatalogApi.endpoints.tool>
export type Quote = Extract<ProxyResponse, { readonly quote: unknown }>
export type CallResult = Extract<ProxyResponse, { readonly meta: unknown }>
export type CatalogPage = Response<typeof CatalogApi.endpoints.catalog>
export type Toolbox = Response<typeof ToolboxApi.endpoints.toolbox>
/** A tool as providers declare it. */
export type Declaration = Wire<ToolBody>
export type OwnTools = Response<typeof CatalogApi.endpoints.ownTools>
export type ImportReport = Response<typeof ImportApi.endpoints.importToolsV1>
export type ToolSync = Response<typeof ImportApi.endpoints.toolSync>
export type McpFeatures = Response<typeof ImportApi.endpoints.mcpFeatures>
export type ToolsResponse = Response<typeof CatalogApi.endpoints.registerTools>
export type DisputeResponse = Response<typeof DisputesApi.endpoints.respond>
export type SigningSecret = Response<typeof TrustApi.endpoints.signingSecret>
