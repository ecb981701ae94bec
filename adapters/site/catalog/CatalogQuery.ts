/**
 * The query of the catalog page, read from its URL and written back. Invalid parameters are ignored.
 */
import { Option, Schema } from "effect"
import type { CatalogSort } from "../../../domain/catalog/CatalogStore.ts"
import { Category } from "../../../domain/catalog/Tool.ts"
import { ProviderId } from "../../../domain/shared/Ids.ts"
import { type Microcents, parseDollars } from "../../../domain/shared/Microcents.ts"
import { PAGE_OFFSET_MAX } from "../../../domain/shared/Page.ts"

export const TOOLS_PER_PAGE = 20
const PAGES_MAX = PAGE_OFFSET_MAX / TOOLS_PER_PAGE
const QUERY_CHARS_MAX = 200

export const SORTS = [
  ["name", "Name"],
  ["price", "Price: low to high"],
  ["price_desc", "Price: high to low"],
  ["newest", "Newest"]
] as const satisfies ReadonlyArray<readonly [CatalogSort, string]>

export interface CatalogQuery {
  readonly q: string
  readonly category: string | undefined
  /** In dollars, as entered. */
  readonly maxPriceText: string
  readonly maxPrice: Microcents | undefined
  readonly providerId: ProviderId | undefined
  readonly sort: CatalogSort
  /** From 1. */
  readonly page: number
}

const providerIdOf = Schema.decodeUnknownOption(ProviderId)
const isCategory = Schema.is(Category)

export const parseCatalogQuery = (query: Readonly<Record<string, string>>): CatalogQuery => {
  const { category = "", max_price: maxPriceText = "", page = "", provider_id, q = "", sort } = query
  return {
    q: q.slice(0, QUERY_CHARS_MAX).toWellFormed().trim(),
    category: isCategory(category) ? category : undefined,
    maxPriceText: maxPriceText.slice(0, QUERY_CHARS_MAX).toWellFormed().trim(),
    maxPrice: parseDollars(maxPriceText),
    providerId: Option.getOrUndefined(providerIdOf(provider_id)),
    sort: SORTS.find(([name]) => name === sort)?.[0] ?? "name",
    page: pageIn(page)
  }
}

/** From 1, as the query's `page` asks for it. */
export const pageIn = (page = ""): number => (/^[1-9]\d{0,4}$/u.test(page) ? Math.min(Number(page), PAGES_MAX) : 1)

export const lastPageOf = (total: number): number => Math.max(1, Math.ceil(total / TOOLS_PER_PAGE))

export const isPriceInvalid = ({ maxPrice, maxPriceText }: CatalogQuery): boolean =>
  maxPriceText !== "" && maxPrice === undefined

export const isFiltered = ({ category, maxPriceText, providerId, q }: CatalogQuery): boolean =>
  q !== "" || category !== undefined || maxPriceText !== "" || providerId !== undefined

/** The same query with changes, on the first page unless `page` is given. */
export const catalogUrl = (query: CatalogQuery, changes: Partial<CatalogQuery> = {}): string => {
  const { category, maxPriceText, page, providerId, q, sort } = { ...query, page: 1, ...changes }
  const parts = new URLSearchParams({
    ...(q === "" ? {} : { q }),
    ...(category === undefined ? {} : { category }),
    ...(maxPriceText === "" ? {} : { max_price: maxPriceText }),
    ...(providerId === undefined ? {} : { provider_id: providerId }),
    ...(sort === "name" ? {} : { sort }),
    ...(page === 1 ? {} : { page: String(page) })
  }).toString()
  return parts === "" ? "/catalog" : `/catalog?${parts}`
}

/** The page of a provider. */
export const providerPath = (handle: string, page = 1): string =>
  `/catalog/providers/${handle}${page === 1 ? "" : `?page=${page}`}`
