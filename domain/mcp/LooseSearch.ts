/**
 * Search for models, which describe what they need in more words than a tool has. Where no tool has all of the words, those
 * with most of them are found.
 */
import { Effect } from "effect"
import type { Catalog, CatalogQuery } from "../catalog/Catalog.ts"
import type { CatalogEntry } from "../catalog/CatalogStore.ts"
import { tokensOfQuery } from "../catalog/SearchTokens.ts"
import type { ToolId } from "../shared/Ids.ts"
import type { Page } from "../shared/Page.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"

/** Each is a search of its own. */
export const WORDS_SEARCHED_MAX = 5
/** Shorter words occur in most tools. */
const WORD_CHARS_MIN = 3

export interface FoundTools extends Page<CatalogEntry> {
  /** False: the tools have only some of the words. */
  readonly hasAllWords: boolean
}

export const searchLoosely = Effect.fn("LooseSearch.search")(function* (
  { search }: Catalog["Service"],
  query: CatalogQuery
): Generator<Effect.Effect<Page<CatalogEntry>, StoreUnavailable>, FoundTools, Page<CatalogEntry>> {
  const exact = yield* search(query)
  const words = wordsOf(query.q ?? "")
  if (exact.total > 0 || words.length < 2 || query.page.after !== undefined) return { ...exact, hasAllWords: true }
  const pages: Array<ReadonlyArray<CatalogEntry>> = []
  for (const q of words) pages.push((yield* search({ ...query, q })).items)
  const items = byWords(pages).slice(0, query.page.limit)
  return { items, total: items.length, next: undefined, hasAllWords: items.length === 0 }
})

const wordsOf = (q: string): ReadonlyArray<string> =>
  tokensOfQuery(q)
    .filter((word) => word.length >= WORD_CHARS_MIN)
    .slice(0, WORDS_SEARCHED_MAX)

/** Most words first; otherwise in the order of the searches. */
const byWords = (pages: ReadonlyArray<ReadonlyArray<CatalogEntry>>): ReadonlyArray<CatalogEntry> => {
  const found = new Map<ToolId, { readonly entry: CatalogEntry; words: number }>()
  for (const entry of pages.flat()) {
    const known = found.get(entry.tool.id)
    if (known === undefined) found.set(entry.tool.id, { entry, words: 1 })
    else known.words++
  }
  return [...found.values()].toSorted((a, b) => b.words - a.words).map(({ entry }) => entry)
}
