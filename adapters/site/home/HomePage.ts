/**
 * The first page: what this is, how much of it there is, and how to begin, with commands that work as they stand.
 */
import { Effect } from "effect"
import { AccountStore } from "../../../domain/accounts/AccountStore.ts"
import { Catalog } from "../../../domain/catalog/Catalog.ts"
import type { CatalogEntry } from "../../../domain/catalog/CatalogStore.ts"
import { MarketFigures, type MarketTotals } from "../../../domain/catalog/MarketFigures.ts"
import { PaymentGateway } from "../../../domain/payments/PaymentGateway.ts"
import { priceText } from "../../../domain/catalog/Terms.ts"
import { formatDollars } from "../../../domain/shared/Microcents.ts"
import { publicRead } from "../../http/api/Access.ts"
import { BaseUrl } from "../../http/BaseUrl.ts"
import { pageRoute } from "../../http/pipeline/Route.ts"
import { developerSteps, providerSteps, type Step } from "./HomeSteps.ts"
import { type Html, html } from "../kit/Html.ts"
import { copyable, makeSite } from "../kit/Site.ts"

const NEWEST_SHOWN = 6

export const homeRoutes = Effect.gen(function* () {
  const site = yield* makeSite
  const catalog = yield* Catalog
  const figures = yield* MarketFigures
  const accounts = yield* AccountStore
  const baseUrl = yield* BaseUrl
  const { mode } = yield* PaymentGateway

  const home = Effect.gen(function* () {
    const newest = yield* catalog.search({
      q: undefined,
      category: undefined,
      providerId: undefined,
      maxPrice: undefined,
      sort: "newest",
      page: { limit: NEWEST_SHOWN, offset: 0, after: undefined }
    })
    const body = page(newest.items, {
      baseUrl,
      isLive: mode === "live",
      tools: yield* catalog.count,
      providers: (yield* accounts.counts).providers,
      totals: yield* figures.totals
    })
    return site({
      title: "Agent Tool Billing: charge for MCP tool calls",
      description: "Billing, metering and authentication between agents and the MCP tools they call.",
      path: "/",
      style: STYLE,
      body
    })
  })
  return [pageRoute("/", publicRead, "What this is, and how to begin", () => home)]
})

/** With the five dollars that the steps load before they call it. */
const isAffordable = ({ maximum }: CatalogEntry): boolean => maximum <= 5_000_000n

interface Facts {
  readonly baseUrl: string
  readonly isLive: boolean
  readonly tools: number
  readonly providers: number
  readonly totals: MarketTotals
}

const page = (newest: ReadonlyArray<CatalogEntry>, facts: Facts): Html => html`
  <section class="hero">
    <h1>Tools that agents pay for, call by call</h1>
    <p class="lead">
      Agents call tools over MCP. This service stands between: it knows who calls, holds the price, forwards the call,
      bills it if it worked, and answers with a signed receipt that anybody can verify.
    </p>
    <p class="actions">
      <a class="button" href="/developers/register">I build agents</a>
      <a class="button plain" href="/providers/register">I have tools</a>
    </p>
  </section>
  <section aria-labelledby="figures-title">
    <h2 id="figures-title">The market now</h2>
    ${liveFigures(facts)}
  </section>
  <section aria-labelledby="newest-title">
    <h2 id="newest-title">New in the catalogue</h2>
    ${
      newest.length === 0
        ? html`<p class="empty">No tools yet. <a href="/providers/register">Yours could be the first.</a></p>`
        : html`<ul class="grid tools">
            ${newest.map(toolCard)}
          </ul>`
    }
    <p><a href="/catalog">All tools</a></p>
  </section>
  <section aria-labelledby="begin-title">
    <h2 id="begin-title">Begin</h2>
    <div class="tracks">
      ${track("developers", "For developers of agents", developerSteps(facts.baseUrl, newest.find(isAffordable), facts.isLive))}
      ${track("providers", "For providers of tools", providerSteps(facts.baseUrl))}
    </div>
    <p>
      Everything else stands in the <a href="/docs">documentation</a>; agents read <a href="/llms.txt">llms.txt</a>.
    </p>
  </section>
  <section aria-labelledby="trust-title">
    <h2 id="trust-title">No faith needed</h2>
    <div class="grid">
      ${PROMISES.map(
        ([title, text, to, link]) =>
          html`<div class="card">
            <h3>${title}</h3>
            <p>${text}</p>
            <p><a href="${to}">${link}</a></p>
          </div>`
      )}
    </div>
  </section>
`

const PROMISES = [
  [
    "The price is known before",
    "A call that the balance does not cover is not made. What is held is never less than what is billed, and a call that failed costs nothing unless its tool says so.",
    "/spec",
    "The rules of money"
  ],
  [
    "Receipts that prove themselves",
    "Each call has one, signed and entered into an append-only log of which anybody may keep a copy. A receipt is verified offline, in the browser or by a program.",
    "/verify",
    "Verify a receipt"
  ],
  [
    "Books that balance in public",
    "Every amount moves from one account to another. The sums are open to everybody, and so is the record of what was up when.",
    "/status",
    "The last 90 days"
  ]
] as const

const liveFigures = ({ providers, tools, totals }: Facts): Html => {
  const shown: ReadonlyArray<readonly [name: string, value: string]> = [
    ["Tools", tools.toLocaleString("en-US")],
    ["Providers", providers.toLocaleString("en-US")],
    ["Calls so far", totals.invocations.toLocaleString("en-US")],
    ["Paid for them", formatDollars(totals.revenueMicrocents)],
    ["Succeeded", totals.successPct === undefined ? "–" : `${totals.successPct.toFixed(1)} %`],
    ["Answered in", totals.avgLatencyMs === undefined ? "–" : `${Math.round(totals.avgLatencyMs)} ms`]
  ]
  return html`<dl class="figures">
    ${shown.map(
      ([name, value]) =>
        html`<div class="figure">
          <dt>${name}</dt>
          <dd>${value}</dd>
        </div>`
    )}
  </dl>`
}

const toolCard = ({ freeTierCalls, maximum, price, provider, tool }: CatalogEntry): Html =>
  html`<li class="card">
    <h3><a href="/catalog/${tool.id}">${tool.displayName}</a></h3>
    <p class="muted small">${provider.name}</p>
    <p>
      <strong>${priceText({ maximum, price })}</strong> a
      call${freeTierCalls > 0 && maximum > 0n ? `, the first ${freeTierCalls.toLocaleString("en-US")} a month free` : ""}
    </p>
  </li>`

const track = (id: string, title: string, steps: ReadonlyArray<Step>): Html =>
  html`<div class="card" id="${id}">
    <h3>${title}</h3>
    <ol>
      ${steps.map(
        ({ command, text }) =>
          html`<li>
            <p>${text}</p>
            ${copyable(command)}
          </li>`
      )}
    </ol>
  </div>`

const STYLE = `
.hero{padding:1rem 0 .5rem;margin-top:0!important}
.hero h1{max-width:18ch}
.tools{list-style:none;padding:0}
.tools li{margin:0}
.tools h3{font-size:1.05rem;margin-bottom:.25rem;overflow-wrap:anywhere}
.tools p{margin-bottom:.35rem}
.tracks{display:grid;gap:1.25rem;grid-template-columns:repeat(auto-fit,minmax(min(100%,27rem),1fr));align-items:start;margin-bottom:1rem}
.tracks li{margin-top:.8rem}
.tracks li p{margin-bottom:.4rem}
.tracks pre{font-size:.8125rem;margin:0}
.copyable pre{min-height:3.4rem}
`
