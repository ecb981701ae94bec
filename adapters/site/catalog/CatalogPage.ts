/**
 * The catalog page: search and filter tools, without scripts. A script adds the buttons of a signed-in developer.
 */
import { Option, Schema } from "effect"
import type { Provider } from "../../../domain/accounts/Account.ts"
import type { CatalogSort } from "../../../domain/catalog/CatalogStore.ts"
import { Category } from "../../../domain/catalog/Tool.ts"
import { ProviderId } from "../../../domain/shared/Ids.ts"
import { type Microcents, parseDollars } from "../../../domain/shared/Microcents.ts"
import { PAGE_OFFSET_MAX } from "../../../domain/shared/Page.ts"
import type { CatalogTool } from "../../http/catalog/CatalogApi.ts"
import type { EncodedReply } from "../../http/pipeline/Route.ts"
import { type Html, html } from "../kit/Html.ts"
import type { Site } from "../kit/Site.ts"
import { badges, count, milliseconds, plural, priceUnit } from "./ToolLabels.ts"

// The query of the catalog page, read from its URL and written back. Invalid parameters are ignored.

export const TOOLS_PER_PAGE = 20
const PAGES_MAX = PAGE_OFFSET_MAX / TOOLS_PER_PAGE
const QUERY_CHARS_MAX = 200

const SORTS = [
  ["name", "Name"],
  ["price", "Price: low to high"],
  ["price_desc", "Price: high to low"],
  ["newest", "Newest"]
] as const satisfies ReadonlyArray<readonly [CatalogSort, string]>

interface CatalogQuery {
  readonly q: string
  readonly category: string | undefined
  /** The price in dollars, as entered. */
  readonly maxPriceText: string
  readonly maxPrice: Microcents | undefined
  readonly providerId: ProviderId | undefined
  readonly sort: CatalogSort
  /** The first page is 1. */
  readonly page: number
}

const providerIdOf = Schema.decodeUnknownOption(ProviderId)
const isCategory = Schema.is(Category)

export const parseCatalogQuery = (query: Readonly<Record<string, string>>): CatalogQuery => {
  const { category = "", max_price: maxPriceText = "", page = "", provider_id, q = "", sort } = query
  return {
    q: q.slice(0, QUERY_CHARS_MAX).toWellFormed().trim(),
    category: isCategory(category) ? category : undefined,
    maxPriceText: maxPriceText.slice(0, QUERY_CHARS_MAX).toWellFormed().trim(),
    maxPrice: parseDollars(maxPriceText),
    providerId: Option.getOrUndefined(providerIdOf(provider_id)),
    sort: SORTS.find(([name]) => name === sort)?.[0] ?? "name",
    page: pageIn(page)
  }
}

/** The first page is 1, as in the query's `page`. */
export const pageIn = (page = ""): number => (/^[1-9]\d{0,4}$/u.test(page) ? Math.min(Number(page), PAGES_MAX) : 1)

export const lastPageOf = (total: number): number => Math.max(1, Math.ceil(total / TOOLS_PER_PAGE))

const isPriceInvalid = ({ maxPrice, maxPriceText }: CatalogQuery): boolean =>
  maxPriceText !== "" && maxPrice === undefined

const isFiltered = ({ category, maxPriceText, providerId, q }: CatalogQuery): boolean =>
  q !== "" || category !== undefined || maxPriceText !== "" || providerId !== undefined

/** The same query with changes, on the first page unless `page` is given. */
const catalogUrl = (query: CatalogQuery, changes: Partial<CatalogQuery> = {}): string => {
  const { category, maxPriceText, page, providerId, q, sort } = { ...query, page: 1, ...changes }
  const parts = new URLSearchParams({
    ...(q === "" ? {} : { q }),
    ...(category === undefined ? {} : { category }),
    ...(maxPriceText === "" ? {} : { max_price: maxPriceText }),
    ...(providerId === undefined ? {} : { provider_id: providerId }),
    ...(sort === "name" ? {} : { sort }),
    ...(page === 1 ? {} : { page: String(page) })
  }).toString()
  return parts === "" ? "/catalog" : `/catalog?${parts}`
}

/** The page of a provider. */
export const providerPath = (handle: string, page = 1): string =>
  `/catalog/providers/${handle}${page === 1 ? "" : `?page=${page}`}`

export const catalogStyle = `
.search{display:grid;gap:.9rem;grid-template-columns:minmax(0,1fr);align-items:start;margin:0 0 1.75rem}
@media (min-width:44rem){.search{grid-template-columns:minmax(0,5fr) minmax(0,3fr) minmax(0,3fr) minmax(0,3fr) auto}.search .go{padding-top:1.85rem}}
.chip{display:inline-flex;flex-wrap:wrap;gap:0 .6rem;margin:0 0 1rem}
.found{margin:0 0 .25rem;color:var(--muted)}
.tools{list-style:none;padding:0;margin:0 0 1.5rem}
.tools>li{border-top:1px solid var(--line);padding:1.15rem 0;margin:0;display:grid;gap:.75rem 2rem;grid-template-columns:minmax(0,1fr)}
@media (min-width:50rem){.tools>li{grid-template-columns:minmax(0,1fr) 25rem}}
.tools h2{font-size:1.15rem;margin:0 0 .15rem;overflow-wrap:anywhere}
.tools p{margin:0;overflow-wrap:anywhere}
.by{font-size:.9375rem;color:var(--muted)}
.by .badge{margin-left:.15rem}
.tools .about{margin-top:.4rem;display:-webkit-box;-webkit-box-orient:vertical;-webkit-line-clamp:2;overflow:hidden}
.toolbox:not(:empty){margin-top:.6rem}
.toolbox .notice{margin:.6rem 0 0}
.terms{display:grid;grid-template-columns:1.2fr 1.3fr 1.1fr .7fr;gap:.5rem 1rem;margin:0;align-content:start}
@media (max-width:30rem){.terms{grid-template-columns:1fr 1fr}}
.terms div{min-width:0}
.terms dt{color:var(--muted);font-size:.8125rem}
.terms dd{margin:0;font-variant-numeric:tabular-nums;overflow-wrap:anywhere}
.terms .price{font-weight:650}
.crumb{margin:0 0 1rem}
.title{margin-bottom:.5rem;overflow-wrap:anywhere}
.lead.about{white-space:pre-line;overflow-wrap:anywhere}
.turn{display:flex;flex-wrap:wrap;gap:.5rem 1.25rem;align-items:center}
`

interface CatalogResults {
  readonly tools: ReadonlyArray<CatalogTool>
  readonly total: number
  readonly categories: ReadonlyArray<string>
  /** Undefined if the provider of the filter does not exist. */
  readonly provider: Pick<Provider, "handle" | "name"> | undefined
}

export const catalogPage = (site: Site, query: CatalogQuery, results: CatalogResults): EncodedReply =>
  site({
    title: "Catalog",
    description: "Tools that agents can call, with price, latency and trust score.",
    path: "/catalog",
    style: catalogStyle,
    modules: ["catalog/CatalogPage"],
    body: html`
      <h1>Catalog</h1>
      <p class="lead">Call any tool with one key. You know the price before each call and get a receipt after it.</p>
      ${searchForm(query, results.categories)} ${providerFilter(query, results)}
      ${results.tools.length === 0 ? emptyState(query, results) : list(query, results)}
    `
  })

const searchForm = (query: CatalogQuery, categories: ReadonlyArray<string>): Html =>
  html`<form class="search" action="/catalog" method="get" role="search" aria-label="Tools">
    <div class="field">
      <label for="q">Search</label>
      <input id="q" name="q" type="search" maxlength="200" value="${query.q}" placeholder="Name or description" />
    </div>
    <div class="field">
      <label for="category">Category</label>
      <select id="category" name="category">
        ${option("", "All", query.category ?? "")}
        ${[...new Set([...categories, ...(query.category === undefined ? [] : [query.category])])].map((name) =>
          option(name, name, query.category ?? "")
        )}
      </select>
    </div>
    <div class="field">
      <label for="max_price">Maximum price</label>
      <input
        id="max_price"
        name="max_price"
        inputmode="decimal"
        autocomplete="off"
        value="${query.maxPriceText}"
        placeholder="$0.01"
        ${isPriceInvalid(query) ? html`aria-invalid="true" aria-describedby="max_price-fault"` : ""}
      />
      ${
        isPriceInvalid(query)
          ? html`<p class="fault small" id="max_price-fault">
              Enter dollars with up to 6 decimal places, such as 0.01.
            </p>`
          : ""
      }
    </div>
    <div class="field">
      <label for="sort">Sort by</label>
      <select id="sort" name="sort">
        ${SORTS.map(([name, label]) => option(name, label, query.sort))}
      </select>
    </div>
    ${
      query.providerId === undefined ? "" : html`<input type="hidden" name="provider_id" value="${query.providerId}" />`
    }
    <div class="go"><button type="submit">Search</button></div>
  </form>`

const option = (value: string, label: string, selected: string): Html =>
  html`<option value="${value}" ${value === selected ? html`selected` : ""}>${label}</option>`

const providerFilter = (query: CatalogQuery, { provider }: CatalogResults): Html | undefined =>
  query.providerId === undefined
    ? undefined
    : html`<p class="chip notice">
        <span
          >${provider === undefined ? "This provider does not exist." : html`Provider: <strong>${provider.name}</strong>`}</span
        >
        ${provider === undefined ? "" : html`<a href="${providerPath(provider.handle)}">Provider page</a>`}
        <a href="${catalogUrl(query, { providerId: undefined })}">Show all providers</a>
      </p>`

const emptyState = (query: CatalogQuery, { total }: CatalogResults): Html => {
  const [text, link, label] =
    total > 0
      ? [
          `Page ${count(query.page)} does not exist.`,
          catalogUrl(query, { page: lastPageOf(total) }),
          "Go to the last page"
        ]
      : isFiltered(query)
        ? ["No tools found. Try fewer or shorter search terms.", "/catalog", "Show all tools"]
        : ["No tools yet. Register your MCP server to list its tools.", "/providers/register", "Register as a provider"]
  return html`<div class="empty">
    <p>${text}</p>
    <p><a href="${link}">${label}</a></p>
  </div>`
}

const list = (query: CatalogQuery, { tools, total }: CatalogResults): Html => {
  const first = (query.page - 1) * TOOLS_PER_PAGE
  const range = total <= TOOLS_PER_PAGE ? "" : ` · ${count(first + 1)}–${count(first + tools.length)} shown`
  return html`<p class="found" role="status">${plural(total, "tool")}${range}</p>
    <ul class="tools">
      ${tools.map((tool) => toolItem(tool))}
    </ul>
    ${pageLinks(query.page, lastPageOf(total), (page) => catalogUrl(query, { page }))}`
}

const DESCRIPTION_CHARS_MAX = 300

export const toolItem = (tool: CatalogTool): Html =>
  html`<li>
    <div>
      <h2><a href="/catalog/${tool.id}">${nameOf(tool)}</a></h2>
      <p class="by">
        <code>${tool.qualified_name}</code> by
        <a href="/catalog?provider_id=${tool.provider.id}">${tool.provider.name}</a> ${badges(tool.provider)}
      </p>
      <p class="about">
        ${tool.description === "" ? html`<span class="muted">No description.</span>` : shortened(tool.description)}
      </p>
      ${toolboxPlace(tool)}
    </div>
    <dl class="terms">
      <div>
        <dt>Price ${priceUnit(tool.pricing)}</dt>
        <dd class="price">${tool.pricing.price}</dd>
      </div>
      <div>
        <dt>Free per month</dt>
        <dd>${plural(tool.pricing.free_tier_calls, "call")}</dd>
      </div>
      <div>
        <dt>p95 latency</dt>
        <dd>${milliseconds(tool.stats.p95_latency_ms)}</dd>
      </div>
      <div>
        <dt>Calls</dt>
        <dd>${count(tool.stats.total_calls)}</dd>
      </div>
    </dl>
  </li>`

/** A script fills it for a signed-in developer. */
export const toolboxPlace = (tool: CatalogTool): Html =>
  html`<div class="toolbox" data-toolbox="${tool.id}" data-name="${nameOf(tool)}"></div>`

/** The display name, unless it is blank. */
export const nameOf = ({ display_name, tool_name }: Pick<CatalogTool, "display_name" | "tool_name">): string =>
  display_name.trim() === "" ? tool_name : display_name

export const shortened = (text: string, charsMax = DESCRIPTION_CHARS_MAX): string =>
  text.length <= charsMax ? text : `${text.slice(0, charsMax).toWellFormed().trimEnd()}…`

/** Returns nothing if there is one page. */
export const pageLinks = (page: number, last: number, urlOf: (page: number) => string): Html | undefined =>
  last === 1
    ? undefined
    : html`<nav class="turn" aria-label="Pages">
        ${page > 1 ? html`<a class="button plain" rel="prev" href="${urlOf(page - 1)}">Previous</a>` : ""}
        <span>Page ${count(page)} of ${count(last)}</span>
        ${page < last ? html`<a class="button plain" rel="next" href="${urlOf(page + 1)}">Next</a>` : ""}
      </nav>`
