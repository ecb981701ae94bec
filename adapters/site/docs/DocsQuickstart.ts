/**
 * The first five minutes, for those who have an agent and those who have tools: calls to copy, one after the other.
 */
import { type Located, type OpenApiDocument, operationsOf } from "../../http/openapi/OpenApiModel.ts"
import { curlExample } from "../kit/CurlExample.ts"
import { anchorOf } from "./DocsEndpoint.ts"
import { breakable, type Html, html, prose } from "../kit/Html.ts"

interface Step {
  readonly method: string
  readonly path: string
  readonly text: string
}

const agentSteps: ReadonlyArray<Step> = [
  {
    method: "POST",
    path: "/api/market/register-consumer",
    text: "Register your agent. Keep the `api_key` of the answer, it is shown only now; the examples expect it in `$CONSUMER_KEY`."
  },
  {
    method: "GET",
    path: "/api/market/catalog",
    text: "Find a tool and see what a call costs, before you pay for one."
  },
  { method: "POST", path: "/api/market/balance/load", text: "Load your balance." },
  {
    method: "POST",
    path: "/api/market/proxy",
    text: "Call the tool. The answer carries the tool's own result, what it cost, and a receipt."
  },
  { method: "POST", path: "/api/v1/verify", text: "Verify the receipt. Anybody can." }
]

const providerSteps: ReadonlyArray<Step> = [
  {
    method: "POST",
    path: "/api/market/register-provider",
    text: "Register your MCP server. Keep the `api_key` of the answer, it is shown only now; the examples expect it in `$PROVIDER_KEY`."
  },
  { method: "POST", path: "/api/market/tools", text: "Put your tools and prices in; send them again to change them." },
  { method: "GET", path: "/api/v1/market/pricing", text: "See your prices as everybody does." },
  {
    method: "GET",
    path: "/api/v1/market/usage/summary",
    text: "See which of your tools are called, and what that adds up to."
  }
]

/** Steps whose endpoint does not exist in this service are left out. */
export const firstSteps = (document: OpenApiDocument): Html => {
  const all = operationsOf(document)
  const known = (steps: ReadonlyArray<Step>) =>
    steps.flatMap((step) => {
      const found = all.find((located) => located.method === step.method && located.path === step.path)
      return found === undefined ? [] : [{ text: step.text, found }]
    })
  const list = (
    title: string,
    role: string,
    steps: ReadonlyArray<{ readonly text: string; readonly found: Located }>
  ) =>
    html`<section class="track">
      <h3>${title}</h3>
      <ol class="steps">
        ${steps.map(
          ({ text, found }) =>
            html`<li>
              <p>${prose(text)} <a href="#${anchorOf(found)}">${found.operation.summary}</a></p>
              <pre><code class="whole">${breakable(curlExample(found, document.servers[0]?.url ?? "", role))}</code></pre>
            </li>`
        )}
      </ol>
    </section>`
  return html`<p>Nothing to install: everything is JSON over HTTP. A click on an example selects it all.</p>
    <div class="tracks">
      ${list("You have an agent", "consumer", known(agentSteps))}${list("You have tools", "provider", known(providerSteps))}
    </div>`
}
