/**
 * The operator's lists share pages of the API, and links between accounts, disputes and the audit trail.
 */
import type { ComponentChildren } from "preact"
import type { LogApi } from "../../../http/log/LogApi.ts"
import type { OperatorApi, OperatorSessionApi } from "../../../http/operator/OperatorApi.ts"
import type { OperatorListsApi } from "../../../http/operator/OperatorListsApi.ts"
import type { PlatformApi } from "../../../http/platform/PlatformApi.ts"
import type { DisputesApi } from "../../../http/trust/DisputesApi.ts"
import type { ConsoleApi } from "../../console/ConsoleContext.browser.ts"
import type { RowPage } from "../../console/ListView.browser.ts"
import { pathTo } from "../../console/Place.browser.ts"
import { h, type View } from "../../console/View.browser.ts"
import type { Response } from "../../kit/ApiResponses.browser.ts"

export const OPERATOR = "/api/v1/operator"
const PAGE_SIZE = 50
const ID_CHARS_SHOWN = 12

type Query = Readonly<Record<string, string | undefined>>

/** `key`: of the rows in the response. */
export const rowsOf =
  <Key extends string, Row>(api: ConsoleApi, path: string, key: Key) =>
  async (cursor: string | undefined, query: Query): Promise<RowPage<Row>> => {
    type Answer = Readonly<Record<Key, ReadonlyArray<Row>>> & { readonly next_cursor: string | null }
    const page = await api.get<Answer>(`${OPERATOR}${path}`, { limit: PAGE_SIZE, cursor, ...query })
    return { rows: page[key], next: page.next_cursor }
  }

export const consumerLink = (id: string, text = id): View =>
  h("a", { href: pathTo("accounts", `consumer-${id}`) }, text)

export const providerLink = (id: string, text = id): View =>
  h("a", { href: pathTo("accounts", `provider-${id}`) }, text)

/** The end of an id differs from all others; its beginning is a time. */
export const shortId = (id: string): View => h("code", { class: "short", title: id }, `…${id.slice(-ID_CHARS_SHOWN)}`)

/** A link to an account by its name, with its ID: several accounts can have one name. */
export const named = (link: typeof consumerLink, name: string, id: string): ComponentChildren => [
  link(id, name),
  h("div", { class: "small muted" }, shortId(id))
]

/** The name with its ID, for details and exported lists. */
export const namedId = (name: string, id: string): string => `${name} (${id})`

export const disputeLink = (id: string): View => h("a", { href: pathTo("disputes", id) }, id)

export const auditLink = (subject: string): View =>
  h("a", { href: `${pathTo("audit")}?${new URLSearchParams({ subject })}` }, "In the audit trail")

// Response types of the operator's endpoints, derived from the contract.

type Lists = typeof OperatorListsApi.endpoints

export type Session = Response<typeof OperatorSessionApi.endpoints.session>
export type AuditTrail = Response<typeof OperatorSessionApi.endpoints.auditTrail>
export type Summary = Response<typeof OperatorApi.endpoints.summary>
export type Solvency = Response<typeof OperatorApi.endpoints.solvency>
export type Consumers = Response<Lists["consumers"]>
export type Consumer = Response<Lists["consumer"]>
export type Providers = Response<Lists["providers"]>
export type Provider = Response<Lists["provider"]>
export type Disputes = Response<Lists["disputes"]>
export type Dispute = Response<Lists["dispute"]>
export type Resolved = Response<typeof DisputesApi.endpoints.resolve>
export type Payouts = Response<Lists["payouts"]>
export type RetriedPayout = Response<typeof OperatorApi.endpoints.retryPayout>
export type Claims = Response<Lists["claims"]>
export type Chargebacks = Response<Lists["chargebacks"]>
export type Jobs = Response<Lists["jobs"]>
export type Logs = Response<typeof LogApi.endpoints.logs>
export type Health = Response<typeof PlatformApi.endpoints.platformHealth>
