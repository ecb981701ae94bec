/**
 * What a visitor asks of the page /catalog, read from its address and written back into one. An address is anybody's text:
 * what cannot be meant is left out, and what somebody may have mistyped is told.
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
  ["price", "Cheapest first"],
  ["price_desc", "Dearest first"],
  ["newest", "Newest first"]
] as const satisfies ReadonlyArray<readonly [CatalogSort, string]>

export interface CatalogQuestion {
  readonly q: string
  readonly category: string | undefined
  /** As it was typed, in dollars. */
  readonly maxPriceText: string
  readonly maxPrice: Microcents | undefined
  readonly providerId: ProviderId | undefined
  readonly sort: CatalogSort
  /** Counted from 1. */
  readonly page: number
}

const providerIdOf = Schema.decodeUnknownOption(ProviderId)
const isCategory = Schema.is(Category)

export const questionOf = (query: Readonly<Record<string, string>>): CatalogQuestion => {
  const { category = "", max_price: maxPriceText = "", page = "", provider_id, q = "", sort } = query
  return {
    q: q.slice(0, QUERY_CHARS_MAX).toWellFormed().trim(),
    category: isCategory(category) ? category : undefined,
    maxPriceText: maxPriceText.slice(0, QUERY_CHARS_MAX).toWellFormed().trim(),
    maxPrice: parseDollars(maxPriceText),
    providerId: Option.getOrUndefined(providerIdOf(provider_id)),
    sort: SORTS.find(([name]) => name === sort)?.[0] ?? "name",
    page: /^[1-9]\d{0,4}$/u.test(page) ? Math.min(Number(page), PAGES_MAX) : 1
  }
}

export const isPriceMistyped = ({ maxPrice, maxPriceText }: CatalogQuestion): boolean =>
  maxPriceText !== "" && maxPrice === undefined

export const isFiltered = ({ category, maxPriceText, providerId, q }: CatalogQuestion): boolean =>
  q !== "" || category !== undefined || maxPriceText !== "" || providerId !== undefined

/** The same question with changes; on the first page unless the page is what changes. */
export const addressOf = (question: CatalogQuestion, changes: Partial<CatalogQuestion> = {}): string => {
  const { category, maxPriceText, page, providerId, q, sort } = { ...question, page: 1, ...changes }
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
