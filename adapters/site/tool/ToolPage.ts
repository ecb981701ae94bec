/**
 * The page of a tool: what it does and costs, who offers it and how they do, and a form that makes the call.
 */
import { formatPrice } from "../../../domain/shared/Microcents.ts"
import type { ToolDetails } from "../../http/api/CatalogTool.ts"
import type { Json } from "../../http/openapi/OpenApiModel.ts"
import type { EncodedReply } from "../../http/pipeline/Route.ts"
import { nameOf, shortened } from "../catalog/CatalogList.ts"
import { toolStyle } from "../catalog/CatalogStyle.ts"
import { commandOf } from "../kit/CurlExample.ts"
import { type Html, html } from "../kit/Html.ts"
import { jsonView } from "../kit/JsonView.ts"
import { sampleInput } from "../kit/SampleInput.ts"
import { copyable, type Site } from "../kit/Site.ts"
import {
  canceledCalls,
  canceledCost,
  badges,
  count,
  freeCalls,
  levelMeaning,
  milliseconds,
  percent,
  plural,
  POLICIES,
  priceUnit
} from "../catalog/ToolWords.ts"

export const toolPage = (site: Site, tool: ToolDetails, baseUrl: string): EncodedReply =>
  site({
    title: nameOf(tool),
    description:
      tool.description === ""
        ? `What ${tool.qualified_name} costs, and how to call it.`
        : shortened(tool.description, 160),
    path: `/catalog/${tool.id}`,
    style: toolStyle,
    module: "tool/ToolPage",
    charts: true,
    body: html`
      <p class="crumb"><a href="/catalog">Catalogue</a></p>
      <h1 class="title">${nameOf(tool)}</h1>
      <p class="by">
        <code>${tool.qualified_name}</code> by
        <a href="/catalog?provider_id=${tool.provider.id}">${tool.provider.name}</a> ${badges(tool.provider)} in
        <a href="/catalog?${new URLSearchParams({ category: tool.category }).toString()}">${tool.category}</a>
      </p>
      <p class="lead about">${tool.description === "" ? "Its provider has not described it yet." : tool.description}</p>
      ${figures(tool)}
      <div class="split">
        <section aria-labelledby="call-title">
          <h2 id="call-title">Call it</h2>
          ${tool.withdrawn_at === null ? calling(tool, baseUrl) : gone(tool.withdrawn_at)}
        </section>
        <section aria-labelledby="cost-title">
          <h2 id="cost-title">What it costs</h2>
          ${terms(tool)} ${announced(tool)} ${priceHistory(tool)}
        </section>
      </div>
      <section aria-labelledby="provider-title">
        <h2 id="provider-title">How it did in the last 30 days</h2>
        <p class="muted">
          Offered by ${tool.provider.name}. ${levelMeaning(tool.provider)} ${scoreSentence(tool.provider)}
        </p>
        <div id="sla" data-tool="${tool.id}">
          <p class="muted">
            <a href="/api/v1/market/tools/${tool.id}/sla">The figures of this tool</a>,
            <a href="/api/v1/market/providers/${tool.provider.id}/sla">of all tools of its provider</a>, and
            <a href="/api/v1/market/providers/${tool.provider.id}/trust">the provider's trust score with its formula</a
            >, as JSON.
          </p>
        </div>
      </section>
      <section aria-labelledby="schema-title">
        <h2 id="schema-title">Input and output</h2>
        <div class="split">
          ${schema("Input schema", tool.input_schema, "Any object is passed on: its provider gave no schema.")}
          ${schema("Output schema", tool.output_schema, "Its provider gave none.")}
        </div>
        <p class="small muted">
          The same for programs: <a href="/api/v1/market/tools/${tool.id}">all about this tool as JSON</a>.
        </p>
      </section>
    `
  })

const calling = (tool: ToolDetails, baseUrl: string): Html =>
  html`<div
    id="call"
    data-tool="${tool.id}"
    data-price="${tool.pricing.price}"
    data-sample="${JSON.stringify(sampleInput(tool.input_schema))}"
  >
    <p>
      ${tool.input_schema === null ? "Its provider has not said what arguments it takes." : "With arguments of your own:"}
    </p>
    ${copyable(callCommand(tool, baseUrl))}
    <noscript><p class="hint">A form that makes the call stands here where JavaScript is allowed.</p></noscript>
  </div>`

const gone = (since: string): Html =>
  html`<p class="notice">
      Its provider withdrew this tool on ${moment(since)}. It is called no more; receipts, usage and disputes of it
      stay.
    </p>
    <p><a href="/catalog">Look through the catalogue</a></p>`

const figures = ({ pricing, stats }: ToolDetails): Html =>
  html`<dl class="figures">
    ${figure("Price", pricing.price, priceUnit(pricing))}
    ${figure("Free each month", freeCalls(pricing.free_tier_calls), "for every developer")}
    ${figure("Latency, p95", milliseconds(stats.p95_latency_ms), stats.p95_latency_ms === null ? "not measured yet" : "95 of 100 calls were faster")}
    ${figure("Answered", percent(stats.uptime_pct), stats.uptime_pct === null ? "no calls yet" : "of its calls through the proxy")}
    ${figure("Calls", count(stats.total_calls), stats.reported_calls === 0 ? "through the proxy" : `and ${count(stats.reported_calls)} reported`)}
  </dl>`

const figure = (name: string, value: string, note: string): Html =>
  html`<div class="figure">
    <dt>${name}</dt>
    <dd>${value}${note === "" ? "" : html`<small>${note}</small>`}</dd>
  </div>`

const callCommand = (tool: ToolDetails, baseUrl: string): string =>
  commandOf(`${baseUrl}/api/market/proxy`, "consumer", {
    tool_name: tool.qualified_name,
    input: sampleInput(tool.input_schema)
  })

const terms = (tool: ToolDetails): Html => {
  const [policy, meaning] = POLICIES[tool.billing_policy]
  const { pricing, timeout_ms: timeoutMs } = tool
  return html`<dl class="facts">
    <dt>Price</dt>
    <dd>${pricing.price} ${priceUnit(pricing)}</dd>
    <dt>Charged</dt>
    <dd>${policy}. ${meaning}</dd>
    ${
      pricing.usage_priced
        ? html`<dt>Usage-priced</dt>
            <dd>
              Its provider reports what each call cost, ${pricing.price}. A call needs a cap of yours; without a report
              it costs ${formatPrice(pricing.price_microcents)}.
            </dd>`
        : ""
    }
    <dt>Free</dt>
    <dd>
      ${pricing.free_tier_calls === 0 ? "No calls are free." : `${plural(pricing.free_tier_calls, "call")} of every developer each month (UTC).`}
    </dd>
    ${
      timeoutMs === null
        ? ""
        : html`<dt>Given up after</dt>
            <dd>${milliseconds(timeoutMs)} an attempt</dd>`
    }
    <dt>Canceled</dt>
    <dd>${canceledCalls(tool)}</dd>
    ${
      tool.idempotent
        ? html`<dt>Repeated</dt>
            <dd>Calling twice does no harm: a call that breaks off is sent again.</dd>`
        : ""
    }
  </dl>`
}

const announced = ({ pricing: { upcoming, ...now } }: ToolDetails): Html =>
  upcoming === null
    ? html``
    : html`<p class="notice" id="upcoming-price">
        From ${moment(upcoming.effective_from)} on: ${upcoming.price} a call,
        ${upcoming.free_tier_calls === 0 ? "no free calls" : `${plural(upcoming.free_tier_calls, "free call")} each month`},
        charged ${POLICIES[upcoming.billing_policy][0].toLowerCase()}.
        ${canceledCost(upcoming) === canceledCost(now) ? "" : canceledCalls(upcoming)}
      </p>`

const priceHistory = ({ price_history: history }: ToolDetails): Html =>
  html`<h3>Prices so far</h3>
    <div class="scroll" role="region" aria-label="Prices so far" tabindex="0">
      <table>
        <thead>
          <tr>
            <th scope="col">Since</th>
            <th scope="col" class="right">Price</th>
            <th scope="col" class="right">Free each month</th>
            <th scope="col">Charged</th>
            <th scope="col">Canceled call</th>
          </tr>
        </thead>
        <tbody>
          ${history.map(
            (since) =>
              html`<tr>
                <td>${moment(since.effective_from)}</td>
                <td class="right number">${since.price}</td>
                <td class="right number">${count(since.free_tier_calls)}</td>
                <td>${POLICIES[since.billing_policy][0]}</td>
                <td>${canceledCost(since)}</td>
              </tr>`
          )}
        </tbody>
      </table>
    </div>`

/** The module puts it into the reader's own zone. */
const moment = (timestamp: string): Html =>
  html`<time datetime="${timestamp}">${timestamp.slice(0, 16).replace("T", " ")} UTC</time>`

const scoreSentence = ({ badge, trust_score: score }: ToolDetails["provider"]): string =>
  badge === "unrated" || score === null
    ? "Too few calls of too few developers have come by to rate it."
    : `Its trust score is ${score} of 100.`

const schema = (title: string, value: ToolDetails["input_schema"], without: string): Html =>
  html`<div>
    <h3>${title}</h3>
    ${
      value === null
        ? html`<p class="muted">${without}</p>`
        : html`<pre
            class="schema"
            tabindex="0"
            role="group"
            aria-label="${title}"
          ><code>${jsonView(value as Json)}</code></pre>`
    }
  </div>`
