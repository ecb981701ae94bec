/**
 * Routes of the catalog: the list of tools, and a page per tool.
 */
import { Effect, Option } from "effect"
import { AccountStore, type Provider } from "../../../domain/accounts/Account.ts"
import { HandleStore } from "../../../domain/accounts/Handle.ts"
import { Catalog } from "../../../domain/catalog/Catalog.ts"
import type { CatalogTool } from "../../http/catalog/CatalogApi.ts"
import { makeToolViews, namedTool } from "../../http/catalog/ToolViews.ts"
import { BaseUrl } from "../../http/contract/BaseUrl.ts"
import { publicRead } from "../../http/contract/Endpoint.ts"
import { type EncodedReply, pageRoute } from "../../http/pipeline/Route.ts"
import { marketDoor, providerDoor } from "../connect/ClientConfigs.ts"
import { connectSection, connectStyle } from "../connect/ConnectSection.ts"
import { type Html, html } from "../kit/Html.ts"
import { makeSite, notFoundPage, type Site } from "../kit/Site.ts"
import {
  catalogPage,
  catalogStyle,
  lastPageOf,
  pageIn,
  pageLinks,
  parseCatalogQuery,
  providerPath,
  shortened,
  toolItem,
  TOOLS_PER_PAGE
} from "./CatalogPage.ts"
import { badges, plural } from "./ToolLabels.ts"
import { toolPage } from "./ToolPage.ts"

// The page of a provider: how to connect to its server, and all of its tools with their prices.

interface ProviderTools {
  readonly tools: ReadonlyArray<CatalogTool>
  readonly total: number
  /** The first page is 1. */
  readonly page: number
}

const providerPage = (site: Site, provider: Provider, found: ProviderTools, baseUrl: string): EncodedReply =>
  site({
    title: provider.name,
    description: provider.description === "" ? `MCP tools of ${provider.name}.` : shortened(provider.description, 160),
    path: providerPath(provider.handle),
    style: catalogStyle + connectStyle,
    modules: ["connect/ConnectPage"],
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

export const catalogRoutes = Effect.gen(function* () {
  const site = yield* makeSite
  const catalog = yield* Catalog
  const accounts = yield* AccountStore
  const views = yield* makeToolViews
  const handles = yield* HandleStore
  const baseUrl = yield* BaseUrl

  const list = pageRoute(
    "/catalog",
    publicRead,
    "Catalog",
    Effect.fnUntraced(function* ({ query: given }) {
      const query = parseCatalogQuery(given)
      const { category, maxPrice, page, providerId, q, sort } = query
      const found = yield* catalog.search({
        q: q === "" ? undefined : q,
        category,
        providerId,
        maxPrice,
        sort,
        page: { limit: TOOLS_PER_PAGE, offset: (page - 1) * TOOLS_PER_PAGE, after: undefined }
      })
      const provider = providerId === undefined ? Option.none() : yield* accounts.findProvider(providerId)
      return catalogPage(site, query, {
        tools: yield* views.listed(found.items),
        total: found.total,
        categories: yield* catalog.categories,
        provider: Option.getOrUndefined(provider)
      })
    })
  )

  const notFound = notFoundPage(
    site,
    "This tool does not exist.",
    html`<p><a href="/catalog">Browse the catalog</a></p>`
  )

  const one = pageRoute(
    "/catalog/:id",
    publicRead,
    "Tool details",
    Effect.fnUntraced(function* ({ params }) {
      const entry = yield* namedTool(catalog, params["id"] ?? "").pipe(
        Effect.asSome,
        Effect.catchTag("ToolNotFound", () => Effect.succeedNone)
      )
      return Option.isNone(entry) ? notFound : toolPage(site, yield* views.whole(entry.value), baseUrl)
    })
  )

  const noProvider = notFoundPage(
    site,
    "This provider does not exist.",
    html`<p><a href="/catalog">Browse the catalog</a></p>`
  )

  const provider = pageRoute(
    "/catalog/providers/:handle",
    publicRead,
    "Provider details",
    Effect.fnUntraced(function* ({ params, query }) {
      const handle = params["handle"] ?? ""
      const id = (yield* handles.ownersOf([handle])).get(handle)
      const found = id === undefined ? Option.none() : yield* accounts.findProvider(id)
      if (Option.isNone(found)) return noProvider
      const page = pageIn(query["page"])
      const tools = yield* catalog.search({
        providerId: found.value.id,
        page: { limit: TOOLS_PER_PAGE, offset: (page - 1) * TOOLS_PER_PAGE, after: undefined }
      })
      return providerPage(
        site,
        found.value,
        { tools: yield* views.listed(tools.items), total: tools.total, page },
        baseUrl
      )
    })
  )

  return [list, one, provider]
})
