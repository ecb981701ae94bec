/**
 * The catalog page: search and filter tools, without scripts. A script adds the buttons of a signed-in developer.
 */
import type { Provider } from "../../../domain/accounts/Account.ts"
import type { CatalogTool } from "../../http/catalog/CatalogApi.ts"
import type { EncodedReply } from "../../http/pipeline/Route.ts"
import { type Html, html } from "../kit/Html.ts"
import type { Site } from "../kit/Site.ts"
import {
  type CatalogQuery,
  catalogUrl,
  isFiltered,
  isPriceInvalid,
  lastPageOf,
  providerPath,
  SORTS,
  TOOLS_PER_PAGE
} from "./CatalogQuery.ts"
import { catalogStyle } from "./CatalogStyle.ts"
import { badges, count, milliseconds, plural, priceUnit } from "./ToolLabels.ts"

export interface CatalogResults {
  readonly tools: ReadonlyArray<CatalogTool>
  readonly total: number
  readonly categories: ReadonlyArray<string>
  /** Of the provider filter; undefined if the provider does not exist. */
  readonly provider: Pick<Provider, "handle" | "name"> | undefined
}

export const catalogPage = (site: Site, query: CatalogQuery, results: CatalogResults): EncodedReply =>
  site({
    title: "Catalog",
    description: "Tools that agents can call, with price, latency and trust score.",
    path: "/catalog",
    style: catalogStyle,
    module: "catalog/CatalogPage",
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

/** Nothing where there is one page. */
export const pageLinks = (page: number, last: number, urlOf: (page: number) => string): Html | undefined =>
  last === 1
    ? undefined
    : html`<nav class="turn" aria-label="Pages">
        ${page > 1 ? html`<a class="button plain" rel="prev" href="${urlOf(page - 1)}">Previous</a>` : ""}
        <span>Page ${count(page)} of ${count(last)}</span>
        ${page < last ? html`<a class="button plain" rel="next" href="${urlOf(page + 1)}">Next</a>` : ""}
      </nav>`
