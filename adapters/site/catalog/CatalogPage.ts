/**
 * The page /catalog: every tool, found by words, category and price. It needs no script.
 */
import type { CatalogTool } from "../../http/api/CatalogTool.ts"
import type { EncodedReply } from "../../http/pipeline/Route.ts"
import {
  addressOf,
  type CatalogQuestion,
  isFiltered,
  isPriceMistyped,
  SORTS,
  TOOLS_PER_PAGE
} from "./CatalogQuestion.ts"
import { catalogStyle } from "./CatalogStyle.ts"
import { type Html, html } from "../kit/Html.ts"
import type { Site } from "../kit/Site.ts"
import { badges, count, freeCalls, milliseconds, plural, priceUnit } from "./ToolWords.ts"

export interface CatalogFound {
  readonly tools: ReadonlyArray<CatalogTool>
  readonly total: number
  readonly categories: ReadonlyArray<string>
  /** Of the provider that was asked for; undefined where there is none by that id. */
  readonly providerName: string | undefined
}

export const catalogPage = (site: Site, question: CatalogQuestion, found: CatalogFound): EncodedReply =>
  site({
    title: "Catalogue",
    description: "Every tool that agents can call here: what it does, what a call costs, and how it has done.",
    path: "/catalog",
    style: catalogStyle,
    body: html`
      <h1>Catalogue</h1>
      <p class="lead">
        Tools that your agent can call with one key. The price of a call is known before it is made; a receipt comes
        with every one.
      </p>
      ${searchForm(question, found.categories)} ${providerChip(question, found)}
      ${found.tools.length === 0 ? nothing(question, found) : list(question, found)}
    `
  })

const searchForm = (question: CatalogQuestion, categories: ReadonlyArray<string>): Html =>
  html`<form class="search" action="/catalog" method="get" role="search" aria-label="Tools">
    <div class="field">
      <label for="q">Search</label>
      <input id="q" name="q" type="search" maxlength="200" value="${question.q}" placeholder="What should it do?" />
    </div>
    <div class="field">
      <label for="category">Category</label>
      <select id="category" name="category">
        ${option("", "All of them", question.category ?? "")}
        ${[...new Set([...categories, ...(question.category === undefined ? [] : [question.category])])].map((name) =>
          option(name, name, question.category ?? "")
        )}
      </select>
    </div>
    <div class="field">
      <label for="max_price">At most, $ a call</label>
      <input
        id="max_price"
        name="max_price"
        inputmode="decimal"
        autocomplete="off"
        value="${question.maxPriceText}"
        placeholder="0.01"
        ${isPriceMistyped(question) ? html`aria-invalid="true" aria-describedby="max_price-fault"` : ""}
      />
      ${
        isPriceMistyped(question)
          ? html`<p class="fault small" id="max_price-fault">
              Write dollars, such as 0.01; at most six digits behind the point.
            </p>`
          : ""
      }
    </div>
    <div class="field">
      <label for="sort">Order</label>
      <select id="sort" name="sort">
        ${SORTS.map(([name, label]) => option(name, label, question.sort))}
      </select>
    </div>
    ${
      question.providerId === undefined
        ? ""
        : html`<input type="hidden" name="provider_id" value="${question.providerId}" />`
    }
    <div class="go"><button type="submit">Search</button></div>
  </form>`

const option = (value: string, label: string, chosen: string): Html =>
  html`<option value="${value}" ${value === chosen ? html`selected` : ""}>${label}</option>`

const providerChip = (question: CatalogQuestion, { providerName }: CatalogFound): Html | undefined =>
  question.providerId === undefined
    ? undefined
    : html`<p class="chip notice">
        <span
          >${providerName === undefined ? "There is no provider by that id." : html`Only tools of <strong>${providerName}</strong>.`}</span
        >
        <a href="${addressOf(question, { providerId: undefined })}">Show those of all providers</a>
      </p>`

const nothing = (question: CatalogQuestion, { total }: CatalogFound): Html => {
  if (total > 0) {
    return html`<div class="empty">
      <p>There is no page ${count(question.page)}: the list ends before it.</p>
      <p><a href="${addressOf(question, { page: lastPage(total) })}">Go to the last page</a></p>
    </div>`
  }
  return isFiltered(question)
    ? html`<div class="empty">
        <p>
          <strong>No tool fits.</strong> Every word has to begin a word of the tool; fewer or shorter ones find more.
        </p>
        <p><a href="/catalog">Show every tool</a></p>
      </div>`
    : html`<div class="empty">
        <p><strong>No tool is listed yet.</strong> Do you run an MCP server? Register it, and its tools stand here.</p>
        <p><a href="/providers/register">Join as a provider</a></p>
      </div>`
}

const lastPage = (total: number): number => Math.max(1, Math.ceil(total / TOOLS_PER_PAGE))

const list = (question: CatalogQuestion, { tools, total }: CatalogFound): Html => {
  const first = (question.page - 1) * TOOLS_PER_PAGE
  const range =
    total <= TOOLS_PER_PAGE ? "" : ` · ${count(first + 1)} to ${count(first + tools.length)} are on this page`
  return html`<p class="found" role="status">${plural(total, "tool")}${isFiltered(question) ? " found" : ""}${range}</p>
    <ul class="tools">
      ${tools.map((tool) => item(tool))}
    </ul>
    ${total <= TOOLS_PER_PAGE ? "" : turning(question, total)}`
}

const ABOUT_CHARS_MAX = 300

const item = (tool: CatalogTool): Html =>
  html`<li>
    <div>
      <h2><a href="/catalog/${tool.id}">${nameOf(tool)}</a></h2>
      <p class="by">
        <code>${tool.qualified_name}</code> by
        <a href="/catalog?provider_id=${tool.provider.id}">${tool.provider.name}</a> ${badges(tool.provider)}
      </p>
      <p class="about">
        ${tool.description === "" ? html`<span class="muted">Its provider has not described it yet.</span>` : shortened(tool.description)}
      </p>
    </div>
    <dl class="terms">
      <div>
        <dt>Price ${priceUnit(tool.pricing)}</dt>
        <dd class="price">${tool.pricing.price}</dd>
      </div>
      <div>
        <dt>Free a month</dt>
        <dd>${freeCalls(tool.pricing.free_tier_calls)}</dd>
      </div>
      <div>
        <dt>Latency p95</dt>
        <dd>${milliseconds(tool.stats.p95_latency_ms)}</dd>
      </div>
      <div>
        <dt>Calls</dt>
        <dd>${count(tool.stats.total_calls)}</dd>
      </div>
    </dl>
  </li>`

/** A display name of nothing but blanks would be a link that nobody can press. */
export const nameOf = ({ display_name, tool_name }: Pick<CatalogTool, "display_name" | "tool_name">): string =>
  display_name.trim() === "" ? tool_name : display_name

export const shortened = (text: string, charsMax = ABOUT_CHARS_MAX): string =>
  text.length <= charsMax ? text : `${text.slice(0, charsMax).toWellFormed().trimEnd()}…`

const turning = (question: CatalogQuestion, total: number): Html => {
  const { page } = question
  const last = lastPage(total)
  return html`<nav class="turn" aria-label="Pages">
    ${page > 1 ? html`<a class="button plain" rel="prev" href="${addressOf(question, { page: page - 1 })}">Previous</a>` : ""}
    <span>Page ${count(page)} of ${count(last)}</span>
    ${page < last ? html`<a class="button plain" rel="next" href="${addressOf(question, { page: page + 1 })}">Next</a>` : ""}
  </nav>`
}
