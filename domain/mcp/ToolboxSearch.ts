/**
 * Finds tools for a client of the market door that does not know their exact names.
 */
import { Effect, Result } from "effect"
import { isHandle } from "../accounts/Handle.ts"
import { Catalog, type CatalogQuery } from "../catalog/Catalog.ts"
import type { CatalogEntry } from "../catalog/CatalogStore.ts"
import { tokensOfQuery } from "../catalog/SearchTokens.ts"
import type { ConsumerId, KeyId, ToolId } from "../shared/Ids.ts"
import { GUESSES_MAX, nearestNames } from "../shared/NearestName.ts"
import type { Page } from "../shared/Page.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"
import { ToolAliases } from "./ToolAliases.ts"
import { Toolbox } from "./Toolbox.ts"

/**
 * Reads the tool of an alias, or what the client may have meant: at most 3 names that its account can call. These are the
 * closest of `others` and of the toolbox's aliases, else qualified names of listed tools.
 */
export const makeAliasReader = Effect.gen(function* () {
  const aliases = yield* ToolAliases
  const toolbox = yield* Toolbox
  const catalog = yield* Catalog

  return Effect.fn("AliasReader.read")(function* (
    name: string,
    caller: { readonly ownerId: ConsumerId; readonly keyId: KeyId },
    others: ReadonlyArray<string>
  ): Effect.fn.Return<Result.Result<ToolId, ReadonlyArray<string>>, StoreUnavailable> {
    const known = yield* aliases.toolOf(name)
    if (known !== undefined) return Result.succeed(known)
    // A tool of the toolbox has its alias from the first list on, which may be this one.
    const { tools } = yield* toolbox.listed(caller.ownerId, caller.keyId)
    const listed = tools.find(({ alias }) => alias === name)
    if (listed !== undefined) return Result.succeed(listed.entry.tool.id)
    const callable = nearestNames(name, [...others, ...tools.map(({ alias }) => alias)], GUESSES_MAX)
    if (callable.length > 0) return Result.fail(callable)
    const { handle, toolName } = partsOf(name)
    return Result.fail(yield* catalog.nearestQualified(handle, toolName))
  })
})

const SEPARATOR = "__"

/** A plain alias is `{handle}__{tool_name}`; no handle contains an underscore. */
const partsOf = (name: string): { readonly handle: string | undefined; readonly toolName: string } => {
  const at = name.indexOf(SEPARATOR)
  const handle = name.slice(0, Math.max(at, 0))
  return isHandle(handle)
    ? { handle, toolName: name.slice(at + SEPARATOR.length) }
    : { handle: undefined, toolName: name }
}

// Search for models, which describe what they need in more words than a tool has. Where no tool has all of the words, those
// with most of them are found.

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
