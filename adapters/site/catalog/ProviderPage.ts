/**
 * The page of a provider: how to connect to its server, and all of its tools with their prices.
 */
import type { Provider } from "../../../domain/accounts/Account.ts"
import type { CatalogTool } from "../../http/catalog/CatalogApi.ts"
import type { EncodedReply } from "../../http/pipeline/Route.ts"
import { marketDoor, providerDoor } from "../connect/ClientConfigs.ts"
import { connectSection, connectStyle } from "../connect/ConnectSection.ts"
import { type Html, html } from "../kit/Html.ts"
import type { Site } from "../kit/Site.ts"
import { pageLinks, shortened, toolItem } from "./CatalogPage.ts"
import { lastPageOf, providerPath } from "./CatalogQuery.ts"
import { catalogStyle } from "./CatalogStyle.ts"
import { badges, plural } from "./ToolLabels.ts"

export interface ProviderTools {
  readonly tools: ReadonlyArray<CatalogTool>
  readonly total: number
  /** From 1. */
  readonly page: number
}

export const providerPage = (site: Site, provider: Provider, found: ProviderTools, baseUrl: string): EncodedReply =>
  site({
    title: provider.name,
    description: provider.description === "" ? `MCP tools of ${provider.name}.` : shortened(provider.description, 160),
    path: providerPath(provider.handle),
    style: catalogStyle + connectStyle,
    module: "connect/ConnectPage",
    connects: false,
    body: html`
      <p class="crumb"><a href="/catalog">Catalog</a></p>
      <h1 class="title">${provider.name}</h1>
      <p class="by">
        <code>${provider.handle}</code> ${found.tools[0] === undefined ? "" : badges(found.tools[0].provider)}
      </p>
      <p class="small muted">Provider ID <code class="whole">${provider.id}</code></p>
      ${provider.description === "" ? "" : html`<p class="lead about">${provider.description}</p>`}
      ${provider.frozen === undefined ? offer(provider, found, baseUrl) : FROZEN}
    `
  })

const FROZEN = html`<p class="notice">
    The operator has frozen this provider: its tools are not for sale at present. New calls are rejected; receipts,
    usage and disputes are kept.
  </p>
  <p><a href="/catalog">Browse the catalog</a></p>`

const offer = (provider: Provider, found: ProviderTools, baseUrl: string): Html =>
  html`<section aria-labelledby="connect-title">
      <h2 id="connect-title">Connect an MCP client</h2>
      ${connectSection([
        [`Of ${provider.name}`, providerDoor(baseUrl, provider.handle)],
        ["Of all providers", marketDoor(baseUrl)]
      ])}
    </section>
    <section aria-labelledby="tools-title">
      <h2 id="tools-title">Tools</h2>
      ${toolList(provider, found)}
      <p class="small"><a href="/catalog?provider_id=${provider.id}">Search and filter these tools</a></p>
    </section>`

const toolList = ({ handle }: Provider, { page, tools, total }: ProviderTools): Html => {
  if (total === 0) return html`<p class="empty">No tools are listed.</p>`
  return html`<p class="found">${plural(total, "tool")}</p>
    <ul class="tools">
      ${tools.map((tool) => toolItem(tool))}
    </ul>
    ${pageLinks(page, lastPageOf(total), (to) => providerPath(handle, to))}`
}
