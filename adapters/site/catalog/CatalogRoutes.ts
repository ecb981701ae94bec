/**
 * The catalogue for people: the list, and a page for every tool.
 */
import { Effect, Option } from "effect"
import { AccountStore } from "../../../domain/accounts/AccountStore.ts"
import { Catalog } from "../../../domain/catalog/Catalog.ts"
import { publicRead } from "../../http/api/Access.ts"
import { BaseUrl } from "../../http/BaseUrl.ts"
import { namedTool } from "../../http/handlers/NamedTool.ts"
import { makeToolViews } from "../../http/handlers/ToolViews.ts"
import { pageRoute } from "../../http/pipeline/Route.ts"
import { catalogPage } from "./CatalogList.ts"
import { questionOf, TOOLS_PER_PAGE } from "./CatalogQuestion.ts"
import { html } from "../kit/Html.ts"
import { makeSite, notFoundPage } from "../kit/Site.ts"
import { toolPage } from "../tool/ToolPage.ts"

export const catalogPageRoutes = Effect.gen(function* () {
  const site = yield* makeSite
  const catalog = yield* Catalog
  const accounts = yield* AccountStore
  const views = yield* makeToolViews
  const baseUrl = yield* BaseUrl

  const list = pageRoute(
    "/catalog",
    publicRead,
    "The catalogue, for people",
    Effect.fnUntraced(function* ({ query }) {
      const question = questionOf(query)
      const { category, maxPrice, page, providerId, q, sort } = question
      const found = yield* catalog.search({
        q: q === "" ? undefined : q,
        category,
        providerId,
        maxPrice,
        sort,
        page: { limit: TOOLS_PER_PAGE, offset: (page - 1) * TOOLS_PER_PAGE, after: undefined }
      })
      const provider = providerId === undefined ? Option.none() : yield* accounts.findProvider(providerId)
      return catalogPage(site, question, {
        tools: yield* views.listed(found.items),
        total: found.total,
        categories: yield* catalog.categories,
        providerName: Option.getOrUndefined(provider)?.name
      })
    })
  )

  const unknown = notFoundPage(
    site,
    "There is no tool at this address.",
    html`<p><a href="/catalog">Look through the catalogue</a></p>`
  )

  const one = pageRoute(
    "/catalog/:id",
    publicRead,
    "A tool, for people",
    Effect.fnUntraced(function* ({ params }) {
      const entry = yield* Effect.option(namedTool(catalog, params["id"] ?? ""))
      return Option.isNone(entry) ? unknown : toolPage(site, yield* views.whole(entry.value), baseUrl)
    })
  )

  return [list, one]
})
