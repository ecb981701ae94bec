/**
 * The home page: introduction, market totals, newest tools, quickstart.
 */
import { Effect } from "effect"
import { AccountStore } from "../../../domain/accounts/Account.ts"
import { qualifiedName } from "../../../domain/accounts/Handle.ts"
import { Catalog } from "../../../domain/catalog/Catalog.ts"
import { type CatalogEntry, MarketFigures, type MarketTotals } from "../../../domain/catalog/CatalogStore.ts"
import { isUsagePriced, priceText } from "../../../domain/catalog/Terms.ts"
import { PaymentGateway } from "../../../domain/ledger/PaymentGateway.ts"
import { DEMO_PROVIDER_ID } from "../../../domain/providers/BuiltInProvider.ts"
import type { ProviderId } from "../../../domain/shared/Ids.ts"
import { formatDollars, fromCents } from "../../../domain/shared/Microcents.ts"
import { BaseUrl } from "../../http/contract/BaseUrl.ts"
import { publicRead } from "../../http/contract/Endpoint.ts"
import { pageRoute } from "../../http/pipeline/Route.ts"
import { marketDoor } from "../connect/ClientConfigs.ts"
import { connectSection, connectStyle } from "../connect/ConnectSection.ts"
import { figures, type Html, html } from "../kit/Html.ts"
import { sampleInput, singleQuoted } from "../kit/Samples.ts"
import { copyable, makeSite } from "../kit/Site.ts"

// Quickstart commands for the home page. They run in sequence in one shell.

interface Step {
  readonly text: string
  readonly command: string
}

const JSON_TYPE = "-H 'content-type: application/json'"

/** Registers an account and keeps the key in `$KEY`. */
const registration = (url: string, body: object, keyPrefix: string): string =>
  `KEY=$(curl -s ${url} ${JSON_TYPE} -d ${singleQuoted(JSON.stringify(body))} | grep -o '${keyPrefix}_[0-9a-f]*' | head -1); echo $KEY`

const authorized = (url: string, body?: object): string =>
  `curl -s ${url} -H "Authorization: Bearer $KEY"${body === undefined ? "" : ` ${JSON_TYPE} -d ${singleQuoted(JSON.stringify(body))}`}`

const developerSteps = (baseUrl: string, tool: CatalogEntry | undefined, isLive: boolean): ReadonlyArray<Step> => {
  const name = tool === undefined ? "<handle>/<tool>" : qualifiedName(tool.provider.handle, tool.tool.toolName)
  const call = {
    tool_name: name,
    input: sampleInput(tool?.tool.inputSchema ?? null),
    ...(tool !== undefined && isUsagePriced(tool) ? { max_cost_microcents: Number(tool.maximum) } : {})
  }
  return [
    {
      text: "Register and save your key.",
      command: registration(
        `${baseUrl}/api/market/register-consumer`,
        { name: "My agent", email: "me@example.org" },
        "atb_c"
      )
    },
    {
      text: isLive ? "Add $5.00. The response has the payment link." : "Add $5.00 of test credit.",
      command: authorized(`${baseUrl}/api/market/balance/load`, { amount_cents: 500 })
    },
    {
      text: "Get a quote.",
      command: authorized(`${baseUrl}/api/market/proxy`, { ...call, dry_run: true })
    },
    {
      text: "Call the tool. The response has the result, the cost and the receipt.",
      command: authorized(`${baseUrl}/api/market/proxy`, call)
    }
  ]
}

const providerSteps = (baseUrl: string): ReadonlyArray<Step> => [
  {
    text: "Register your MCP server with a first tool and save your key.",
    command: registration(
      `${baseUrl}/api/market/register-provider`,
      {
        name: "My tools",
        email: "me@example.org",
        endpoint_url: "https://tools.example.org/mcp",
        tools: [{ tool_name: "search", description: "Finds papers", price_microcents: 2_500, free_tier_calls: 20 }]
      },
      "atb_p"
    )
  },
  {
    text: "Verify your email address. Verification raises your trust score.",
    command: authorized(`${baseUrl}/api/v1/market/providers/verify`, { level: "email" })
  },
  {
    text: "See your earnings.",
    command: authorized(`${baseUrl}/api/v1/market/billing/provider-summary`, {})
  },
  {
    text: "See what is available for payout, from $10.00.",
    command: authorized(`${baseUrl}/api/market/payouts`)
  }
]

const NEWEST_SHOWN = 6

export const homeRoutes = Effect.gen(function* () {
  const site = yield* makeSite
  const catalog = yield* Catalog
  const market = yield* MarketFigures
  const accounts = yield* AccountStore
  const baseUrl = yield* BaseUrl
  const { mode } = yield* PaymentGateway

  const home = Effect.gen(function* () {
    const newest = yield* catalog.search({
      sort: "newest",
      page: { limit: NEWEST_SHOWN, offset: 0, after: undefined }
    })
    const one = (providerId: ProviderId | undefined) =>
      catalog.search({
        providerId,
        maxPrice: PAYABLE,
        sort: "newest",
        page: { limit: 1, offset: 0, after: undefined }
      })
    // Its tools answer on any service, whichever others are listed.
    const [demo] = (yield* one(DEMO_PROVIDER_ID)).items
    const body = page(newest.items, {
      sample: demo ?? (yield* one(undefined)).items[0],
      baseUrl,
      isLive: mode === "live",
      tools: yield* catalog.count,
      providers: (yield* accounts.counts).providers,
      totals: yield* market.totals
    })
    return site({
      title: "Agent Tool Billing: charge for MCP tool calls",
      description: "Billing, metering and authentication for MCP tools.",
      path: "/",
      style: STYLE + connectStyle,
      modules: ["connect/ConnectPage"],
      connects: false,
      body
    })
  })
  return [pageRoute("/", publicRead, "Home page", () => home)]
})

/** The $5.00 that the quickstart adds. */
const PAYABLE = fromCents(500)

interface Facts {
  readonly sample: CatalogEntry | undefined
  readonly baseUrl: string
  readonly isLive: boolean
  readonly tools: number
  readonly providers: number
  readonly totals: MarketTotals
}

const page = (newest: ReadonlyArray<CatalogEntry>, facts: Facts): Html => html`
  <section class="hero">
    <h1>Billing for MCP tools</h1>
    <p class="lead">
      Agents call tools over MCP or HTTP with one key. Each call is authenticated, priced, metered and billed, and
      returns a signed receipt.
    </p>
    <p class="actions">
      <a class="button" href="/developers/register">Register as a developer</a>
      <a class="button plain" href="/providers/register">Register as a provider</a>
    </p>
  </section>
  <section aria-labelledby="figures-title">
    <h2 id="figures-title">Live totals</h2>
    ${totalsView(facts)}
  </section>
  <section aria-labelledby="newest-title">
    <h2 id="newest-title">Newest tools</h2>
    ${
      newest.length === 0
        ? html`<p class="empty">No tools yet. <a href="/providers/register">List the first tool</a>.</p>`
        : html`<ul class="grid tools">
            ${newest.map(toolCard)}
          </ul>`
    }
    <p><a href="/catalog">Browse the catalog</a></p>
  </section>
  <section aria-labelledby="begin-title">
    <h2 id="begin-title">Quickstart</h2>
    <div class="tracks">
      ${track("developers", "Developers", developerSteps(facts.baseUrl, facts.sample, facts.isLive))}
      ${track("providers", "Providers", providerSteps(facts.baseUrl))}
    </div>
    <p>Continue in the <a href="/docs">documentation</a>. For agents: <a href="/llms.txt">llms.txt</a>.</p>
  </section>
  <section aria-labelledby="connect-title">
    <h2 id="connect-title">Connect an MCP client</h2>
    <p>Your agent calls all tools of the market over MCP, with a URL and your key.</p>
    ${connectSection([["Of all providers", marketDoor(facts.baseUrl)]])}
  </section>
  <section aria-labelledby="trust-title">
    <h2 id="trust-title">Verifiable by design</h2>
    <div class="grid">
      ${FEATURES.map(
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

const FEATURES = [
  [
    "Known prices",
    "The price is reserved before the call is forwarded, and you never pay more. By default, failed calls are free.",
    "/spec",
    "Read the specification"
  ],
  [
    "Signed receipts",
    "Every call has a receipt in an append-only transparency log. Verify it offline, in the browser or in your code.",
    "/verify",
    "Verify a receipt"
  ],
  [
    "Public records",
    "Double-entry bookkeeping with a public trial balance, and 90 days of health checks.",
    "/status",
    "View status"
  ]
] as const

const totalsView = ({ providers, tools, totals }: Facts): Html =>
  figures([
    ["Tools", tools.toLocaleString("en-US")],
    ["Providers", providers.toLocaleString("en-US")],
    ["Calls", totals.invocations.toLocaleString("en-US")],
    ["Revenue", formatDollars(totals.revenueMicrocents)],
    ["Success rate", totals.successPct === undefined ? "–" : `${totals.successPct.toFixed(1)}%`],
    ["Average latency", totals.avgLatencyMs === undefined ? "–" : `${Math.round(totals.avgLatencyMs)} ms`]
  ])

const toolCard = ({ freeTierCalls, maximum, price, provider, tool }: CatalogEntry): Html =>
  html`<li class="card">
    <h3><a href="/catalog/${tool.id}">${tool.displayName}</a></h3>
    <p class="muted small">${provider.name}</p>
    <p>
      <strong>${priceText({ maximum, price })}</strong
      >${maximum > 0n ? " per call" : ""}${freeTierCalls > 0 && maximum > 0n ? `, ${freeTierCalls.toLocaleString("en-US")} free per month` : ""}
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
