/**
 * What the service answers, as its own contract has it.
 */
import type { AccountsApi } from "../../http/api/AccountsApi.ts"
import type { CatalogApi } from "../../http/api/CatalogApi.ts"
import type { CallsApi } from "../../http/api/CallsApi.ts"
import type { DisputesApi } from "../../http/api/DisputesApi.ts"
import type { InvoicesApi } from "../../http/api/InvoicesApi.ts"
import type { MeteringApi } from "../../http/api/MeteringApi.ts"
import type { MoneyApi } from "../../http/api/MoneyApi.ts"
import type { PayoutsApi } from "../../http/api/PayoutsApi.ts"
import type { ReceiptsApi } from "../../http/api/ReceiptsApi.ts"
import type { ToolBody } from "../../http/api/ToolBody.ts"
import type { TrustApi } from "../../http/api/TrustApi.ts"

/** Amounts are whole numbers of microcents in JSON. */
type Wire<A> = A extends bigint
  ? number
  : A extends string | number | boolean | null | undefined
    ? A
    : { readonly [K in keyof A]: Wire<A[K]> }

type Answer<E extends { readonly "~Success": { readonly Type: unknown } }> = Wire<E["~Success"]["Type"]>

export type Keys = Answer<typeof AccountsApi.endpoints.listKeys>
export type NewKey = Answer<typeof AccountsApi.endpoints.createKey>
export type RegisteredConsumer = Answer<typeof AccountsApi.endpoints.registerConsumer>
export type RegisteredProvider = Answer<typeof AccountsApi.endpoints.registerProvider>

export type Balance = Answer<typeof MoneyApi.endpoints.balance>
export type Loaded = Answer<typeof MoneyApi.endpoints.load>
export type Budgets = Answer<typeof MoneyApi.endpoints.listBudgets>
export type Grants = Answer<typeof MeteringApi.endpoints.listGrants>
export type UsagePage = Answer<typeof CallsApi.endpoints.usageV1>
export type UsageSummary = Answer<typeof CallsApi.endpoints.usageSummaryV1>
export type CallAnswer = Answer<typeof CallsApi.endpoints.proxy>
export type FreeTiers = Answer<typeof CallsApi.endpoints.freeTiers>
export type OneReceipt = Answer<typeof ReceiptsApi.endpoints.find>

export type Earnings = Answer<typeof PayoutsApi.endpoints.providerSummary>
export type Connection = Answer<typeof PayoutsApi.endpoints.connection>
export type Connected = Answer<typeof PayoutsApi.endpoints.connect>
export type PayoutAnswer = Answer<typeof PayoutsApi.endpoints.requestPayout>
export type Payouts = Answer<typeof PayoutsApi.endpoints.payouts>

export type Invoices = Answer<typeof InvoicesApi.endpoints.list>
export type Disputes = Answer<typeof DisputesApi.endpoints.list>
export type Sla = Answer<typeof TrustApi.endpoints.sla>
export type ToolSla = Answer<typeof TrustApi.endpoints.toolSla>
export type Trust = Answer<typeof TrustApi.endpoints.score>
export type Verified = Answer<typeof TrustApi.endpoints.verify>
export type ToolDetails = Answer<typeof CatalogApi.endpoints.tool>
export type Quote = Extract<CallAnswer, { readonly quote: unknown }>
export type CallDone = Extract<CallAnswer, { readonly meta: unknown }>
export type CatalogPage = Answer<typeof CatalogApi.endpoints.catalog>
/** A tool as it is put in. */
export type Declaration = Wire<ToolBody>
export type OwnTools = Answer<typeof CatalogApi.endpoints.ownTools>
export type ToolsPut = Answer<typeof CatalogApi.endpoints.registerTools>
export type Answered = Answer<typeof DisputesApi.endpoints.respond>
export type SigningSecret = Answer<typeof TrustApi.endpoints.signingSecret>
