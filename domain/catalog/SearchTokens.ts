/**
 * Search in the catalog: by word prefixes, ignoring case, accents and punctuation. Every adapter stores and searches
 * these tokens, so all of them find the same tools.
 */
export const SEARCH_TOKEN_CHARS_MAX = 40
export const SEARCH_TOKENS_PER_TOOL_MAX = 400
export const SEARCH_TOKENS_PER_QUERY_MAX = 10

const words = (text: string): ReadonlyArray<string> =>
  text
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .match(/[\p{L}\p{N}]+/gu) ?? []

const tokens = (texts: ReadonlyArray<string>, max: number): ReadonlyArray<string> =>
  [...new Set(texts.flatMap(words).map((word) => [...word].slice(0, SEARCH_TOKEN_CHARS_MAX).join("")))].slice(0, max)

export const tokensOfTool = (
  tool: {
    readonly toolName: string
    readonly displayName: string
    readonly category: string
    readonly description: string
  },
  providerName: string
): ReadonlyArray<string> =>
  tokens([tool.toolName, tool.displayName, tool.category, providerName, tool.description], SEARCH_TOKENS_PER_TOOL_MAX)

export const tokensOfQuery = (query: string): ReadonlyArray<string> => tokens([query], SEARCH_TOKENS_PER_QUERY_MAX)

/** Every word of the query is a prefix of a word of the tool. */
export const matches = (toolTokens: ReadonlyArray<string>, queryTokens: ReadonlyArray<string>): boolean =>
  queryTokens.every((query) => toolTokens.some((token) => token.startsWith(query)))
