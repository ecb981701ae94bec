/**
 * The page of a tool: description, price, call form, service levels, schemas.
 */
import { formatPrice } from "../../../domain/shared/Microcents.ts"
import type { ToolDetails } from "../../http/catalog/CatalogApi.ts"
import type { Json } from "../../http/openapi/OpenApiModel.ts"
import type { EncodedReply } from "../../http/pipeline/Route.ts"
import { marketDoor, providerDoor } from "../connect/ClientConfigs.ts"
import { connectSection, connectStyle } from "../connect/ConnectSection.ts"
import { kitStyle } from "../kit/SiteStyle.ts"
import { figures, type Html, html, jsonView, table } from "../kit/Html.ts"
import { curlPost, sampleInput } from "../kit/Samples.ts"
import { copyable, type Site } from "../kit/Site.ts"
import { nameOf, providerPath, shortened, toolboxPlace } from "./CatalogPage.ts"
import {
  badges,
  BILLING_POLICIES,
  canceledCalls,
  canceledCost,
  count,
  milliseconds,
  percent,
  plural,
  priceUnit
} from "./ToolLabels.ts"

const toolStyle = `
.crumb{margin:0 0 1rem}
.title{margin-bottom:.5rem;overflow-wrap:anywhere}
.by{color:var(--muted);overflow-wrap:anywhere}
.about{white-space:pre-line;overflow-wrap:anywhere;max-width:44rem}
.toolbox:not(:empty){margin:0 0 1.25rem}
.toolbox .notice{margin:.6rem 0 0}
.split{display:grid;gap:2rem;grid-template-columns:minmax(0,1fr)}
@media (min-width:58rem){.split{grid-template-columns:minmax(0,1fr) minmax(0,1fr)}}
.schema{max-height:26rem;overflow:auto;color-scheme:dark;scrollbar-width:thin}
.schema:focus-visible{outline-offset:-3px;outline-color:var(--code-key)}
.key{color:var(--code-key)}.str{color:var(--code-text)}.lit{color:var(--code-literal)}
.result{max-height:26rem;overflow:auto}
.charts{display:grid;gap:1.5rem;grid-template-columns:repeat(auto-fit,minmax(min(100%,19rem),1fr))}
.charts h3{font-size:1rem;margin:0 0 .25rem}
.charts figure{margin:0}
form.stack{max-width:none}
#account{margin:1.25rem 0}
.keyless #arguments .actions{display:none}
`

export const toolPage = (site: Site, tool: ToolDetails, baseUrl: string): EncodedReply =>
  site({
    title: nameOf(tool),
    description:
      tool.description === "" ? `Price and usage of ${tool.qualified_name}.` : shortened(tool.description, 160),
    path: `/catalog/${tool.id}`,
    style: kitStyle + toolStyle + connectStyle,
    modules: ["catalog/ToolPage", "kit/LocalTimes"],
    charts: true,
    body: html`
      <p class="crumb"><a href="/catalog">Catalog</a></p>
      <h1 class="title">${nameOf(tool)}</h1>
      <p class="by">
        <code>${tool.qualified_name}</code> by
        <a href="${providerPath(tool.provider.handle)}">${tool.provider.name}</a> ${badges(tool.provider)} in
        <a href="/catalog?${new URLSearchParams({ category: tool.category }).toString()}">${tool.category}</a>
      </p>
      <p class="lead about">${tool.description === "" ? "No description." : tool.description}</p>
      ${isOffered(tool) ? toolboxPlace(tool) : ""} ${figuresOf(tool)}
      <div class="split">
        <section aria-labelledby="call-title">
          <h2 id="call-title">Call this tool</h2>
          ${isOffered(tool) ? callSection(tool, baseUrl) : notOffered(tool)}
        </section>
        <section aria-labelledby="cost-title">
          <h2 id="cost-title">Pricing</h2>
          ${terms(tool)} ${upcomingTerms(tool)}
        </section>
      </div>
      <section aria-label="Price history">${priceHistory(tool)}</section>
      ${isOffered(tool) ? connect(tool, baseUrl) : ""}
      <section aria-labelledby="provider-title">
        <h2 id="provider-title">Service levels, last 30 days</h2>
        <div id="sla" data-tool="${tool.id}"></div>
        <p class="muted">
          JSON: <a href="/api/v1/market/tools/${tool.id}/sla">this tool</a>,
          <a href="/api/v1/market/providers/${tool.provider.id}/sla">all tools of ${tool.provider.name}</a>,
          <a href="/api/v1/market/providers/${tool.provider.id}/trust">trust score</a>
        </p>
      </section>
      <section aria-labelledby="schema-title">
        <h2 id="schema-title">Input and output</h2>
        <div class="split">
          ${schema("Input schema", tool.input_schema, "Not specified. Any object is accepted.")}
          ${schema("Output schema", tool.output_schema, "Not specified.")}
        </div>
        ${versionHistory(tool)}
        <p class="small muted"><a href="/api/v1/market/tools/${tool.id}">View this tool as JSON</a></p>
      </section>
    `
  })

const connect = ({ provider, tool_name: name }: ToolDetails, baseUrl: string): Html =>
  html`<section aria-labelledby="connect-title">
    <h2 id="connect-title">Connect an MCP client</h2>
    <p>
      Your agent calls <code>${name}</code> over MCP, with your key and nothing else to install. Each call is billed as
      above.
    </p>
    ${connectSection([
      [`Of ${provider.name}`, providerDoor(baseUrl, provider.handle)],
      ["Of all providers", marketDoor(baseUrl)]
    ])}
  </section>`

const callSection = (tool: ToolDetails, baseUrl: string): Html =>
  html`<div
    id="call"
    data-tool="${tool.id}"
    data-price="${tool.pricing.price}"
    data-sample="${JSON.stringify(sampleInput(tool.input_schema))}"
  >
    ${copyable(
      curlPost(`${baseUrl}/api/market/proxy`, "consumer", {
        tool_name: tool.qualified_name,
        input: sampleInput(tool.input_schema),
        ...(tool.pricing.usage_priced ? { max_cost_microcents: Number(tool.pricing.max_cost_microcents) } : {})
      })
    )}
    <noscript><p class="hint">Enable JavaScript to call this tool from this page.</p></noscript>
  </div>`

const isOffered = ({ provider_frozen_at, withdrawn_at }: ToolDetails): boolean =>
  provider_frozen_at === null && withdrawn_at === null

const notOffered = ({ provider_frozen_at: frozenAt, withdrawn_at: withdrawnAt }: ToolDetails): Html =>
  html`<p class="notice">
      ${
        frozenAt === null
          ? html`The provider withdrew this tool on ${dateTime(withdrawnAt ?? "")}.`
          : html`The operator froze the provider on ${dateTime(frozenAt)}: this tool is not for sale at present.`
      }
      New calls are rejected; receipts, usage and disputes are kept.
    </p>
    <p><a href="/catalog">Browse the catalog</a></p>`

const figuresOf = ({ pricing, stats }: ToolDetails): Html =>
  figures([
    ["Price", pricing.price, priceUnit(pricing)],
    ["Free per month", plural(pricing.free_tier_calls, "call"), "per developer"],
    ["p95 latency", milliseconds(stats.p95_latency_ms)],
    ["Success rate", percent(stats.uptime_pct)],
    [
      "Calls",
      count(stats.total_calls),
      stats.reported_calls === 0 ? "" : `plus ${count(stats.reported_calls)} reported`
    ]
  ])

const terms = (tool: ToolDetails): Html => {
  const [policy, meaning] = BILLING_POLICIES[tool.billing_policy]
  const { pricing, timeout_ms: timeoutMs } = tool
  const rows: ReadonlyArray<readonly [name: string, text: string]> = [
    ["Price", `${pricing.price} ${priceUnit(pricing)}`],
    ["Charged", `${policy}. ${meaning}`],
    ...(pricing.usage_priced
      ? [
          [
            "Usage-priced",
            `The provider reports the cost of each call, ${pricing.price}; without a report a call costs ` +
              `${formatPrice(pricing.price_microcents)}. Calls require a cost limit.`
          ] as const
        ]
      : []),
    ["Free", `${plural(pricing.free_tier_calls, "call")} per developer and month (UTC)`],
    ...(timeoutMs === null ? [] : [["Timeout", `${milliseconds(timeoutMs)} per attempt`] as const]),
    ["Cancellation", canceledCalls(tool)],
    ...hintsOf(tool.annotations),
    ...(tool.idempotent
      ? [["Retries", "Idempotent: calls are retried after a timeout or lost connection."] as const]
      : [])
  ]
  return html`<dl class="facts">
    ${rows.map(
      ([name, text]) =>
        html`<dt>${name}</dt>
          <dd>${text}</dd>`
    )}
  </dl>`
}

const upcomingTerms = ({ pricing: { upcoming, ...now } }: ToolDetails): Html | undefined =>
  upcoming === null
    ? undefined
    : html`<p class="notice" id="upcoming-price">
        From ${dateTime(upcoming.effective_from)}: ${upcoming.price} per call,
        ${plural(upcoming.free_tier_calls, "free call")} per month, charged
        ${BILLING_POLICIES[upcoming.billing_policy][0].toLowerCase()}.
        ${upcoming.output_schema_changes ? "The output schema that decides this changes too." : ""}
        ${canceledCost(upcoming) === canceledCost(now) ? "" : canceledCalls(upcoming)}
      </p>`

const hintsOf = (hints: ToolDetails["annotations"]): ReadonlyArray<readonly [name: string, text: string]> => {
  if (hints === null) return []
  const parts = [
    hints.read_only_hint === true ? "read-only" : undefined,
    hints.destructive_hint === true ? "may delete or overwrite" : undefined,
    hints.idempotent_hint === true ? "idempotent" : undefined,
    hints.open_world_hint === true ? "uses outside systems" : undefined
  ].filter((one) => one !== undefined)
  return parts.length === 0 ? [] : [["Server's hints", parts.join(", ")]]
}

const versionHistory = ({ version_history: history }: ToolDetails): Html =>
  history.length < 2
    ? html``
    : html`<h3>Changes</h3>
        ${table(
          "Changes of the definition",
          [{ name: "Time" }, { name: "Version", isNumber: true }, { name: "Changed" }, { name: "By" }],
          history.map(({ changed, changed_at, source, version }) => [
            dateTime(changed_at),
            String(version),
            version === 1 ? "First version" : changed.join(", "),
            source === "server" ? "MCP server" : "Provider"
          ])
        )}`

const priceHistory = ({ price_history: history }: ToolDetails): Html =>
  table(
    "Price history",
    [
      { name: "Effective from" },
      { name: "Price", isNumber: true },
      { name: "Free per month", isNumber: true },
      { name: "Charged" },
      { name: "Canceled call" }
    ],
    history.map((version) => [
      dateTime(version.effective_from),
      version.price,
      count(version.free_tier_calls),
      BILLING_POLICIES[version.billing_policy][0],
      canceledCost(version)
    ])
  )

/** A script shows it in the reader's time zone. */
const dateTime = (timestamp: string): Html =>
  html`<time datetime="${timestamp}" data-moment>${timestamp.slice(0, 16).replace("T", " ")} UTC</time>`

const schema = (title: string, value: ToolDetails["input_schema"], missing: string): Html =>
  html`<div>
    <h3>${title}</h3>
    ${
      value === null
        ? html`<p class="muted">${missing}</p>`
        : html`<pre
            class="schema"
            tabindex="0"
            role="group"
            aria-label="${title}"
          ><code>${jsonView(value as Json)}</code></pre>`
    }
  </div>`
