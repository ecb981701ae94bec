/**
 * Routes of the catalog: the list of tools, and a page per tool.
 */
import { Effect, Option } from "effect"
import { AccountStore } from "../../../domain/accounts/Account.ts"
import { HandleStore } from "../../../domain/accounts/Handle.ts"
import { Catalog } from "../../../domain/catalog/Catalog.ts"
import { makeToolViews, namedTool } from "../../http/catalog/ToolViews.ts"
import { publicRead } from "../../http/contract/Access.ts"
import { BaseUrl } from "../../http/contract/BaseUrl.ts"
import { pageRoute } from "../../http/pipeline/Route.ts"
import { html } from "../kit/Html.ts"
import { makeSite, notFoundPage } from "../kit/Site.ts"
import { catalogPage } from "./CatalogPage.ts"
import { pageIn, parseCatalogQuery, TOOLS_PER_PAGE } from "./CatalogQuery.ts"
import { providerPage } from "./ProviderPage.ts"
import { toolPage } from "./ToolPage.ts"

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
        q: undefined,
        category: undefined,
        providerId: found.value.id,
        sort: "name",
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
