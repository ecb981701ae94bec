/**
 * What the operator's lists share: pages of the API, and links between accounts, disputes and the audit trail.
 */
import { Fragment } from "preact"
import type { ConsoleApi } from "../../console/ConsoleContext.browser.ts"
import type { RowPage } from "../../console/ListView.browser.ts"
import { pathTo } from "../../console/Place.browser.ts"
import { h, type View } from "../../console/View.browser.ts"

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
export const named = (link: typeof consumerLink, name: string, id: string): View =>
  h(Fragment, null, link(id, name), h("div", { class: "small muted" }, shortId(id)))

/** With its ID, in details and exported lists. */
export const namedId = (name: string, id: string): string => `${name} (${id})`

export const disputeLink = (id: string): View => h("a", { href: pathTo("disputes", id) }, id)

/** What the operator did about an account, a dispute or a document. */
export const auditLink = (subject: string): View =>
  h("a", { href: `${pathTo("audit")}?${new URLSearchParams({ subject })}` }, "In the audit trail")
