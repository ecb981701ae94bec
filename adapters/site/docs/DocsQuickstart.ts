/**
 * The quickstart of the documentation: requests to copy, for developers and providers.
 */
import { type Json, type Located, type OpenApiDocument, operationsOf } from "../../http/openapi/OpenApiModel.ts"
import { curlExample, curlPost } from "../kit/CurlExample.ts"
import { breakable, type Html, html, prose } from "../kit/Html.ts"
import { anchorOf } from "./DocsEndpoint.ts"

type Step = readonly [method: string, path: string, text: string]

/** A call of a tool that this service has. */
export interface SampleCall {
  readonly tool_name: string
  readonly input: Readonly<Record<string, Json>>
}

const CALL = "/api/market/proxy"

const developerSteps: ReadonlyArray<Step> = [
  ["POST", "/api/market/register-consumer", "Register. Save the `api_key` as `$CONSUMER_KEY`: it is shown only once."],
  ["GET", "/api/market/catalog", "Find a tool and its price."],
  ["POST", "/api/market/balance/load", "Add funds."],
  ["POST", CALL, "Call the tool. The response has its result, the cost and a receipt."],
  ["POST", "/api/v1/verify", "Verify the receipt."]
]

const providerSteps: ReadonlyArray<Step> = [
  [
    "POST",
    "/api/market/register-provider",
    "Register your MCP server. Save the `api_key` as `$PROVIDER_KEY`: it is shown only once."
  ],
  ["POST", "/api/market/tools", "List your tools with their prices. Send them again to change them."],
  ["GET", "/api/v1/market/pricing", "See your public prices."],
  ["GET", "/api/v1/market/usage/summary", "See usage and revenue by tool."]
]

/** Leaves out steps whose endpoint this service does not have. `sample`: instead of the contract's example. */
export const quickstart = (document: OpenApiDocument, sample: SampleCall | undefined): Html => {
  const all = operationsOf(document)
  const baseUrl = document.servers[0]?.url ?? ""
  const commandOf = (located: Located, role: string) =>
    located.path === CALL && sample !== undefined
      ? curlPost(`${baseUrl}${CALL}`, role, { ...sample })
      : curlExample(located, baseUrl, role)
  const track = (title: string, role: string, steps: ReadonlyArray<Step>) =>
    html`<section class="track">
      <h3>${title}</h3>
      <ol class="steps">
        ${steps.map(([method, path, text]) => {
          const found = all.find((located) => located.method === method && located.path === path)
          return found === undefined
            ? undefined
            : html`<li>
                <p>${prose(text)} <a href="#${anchorOf(found)}">${found.operation.summary}</a></p>
                <pre><code class="whole">${breakable(commandOf(found, role))}</code></pre>
              </li>`
        })}
      </ol>
    </section>`
  return html`<div class="tracks">
    ${track("Developers", "consumer", developerSteps)}${track("Providers", "provider", providerSteps)}
  </div>`
}
