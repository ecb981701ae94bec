/**
 * Search tokens as PostgreSQL lexemes. A tool's vector holds its tokens and, marked, their first letters. A short
 * prefix matches very many words; its marked lexeme is one index lookup instead of thousands.
 */
const LETTERS_MAX = 3
/** Occurs in no token: tokens consist of letters and digits. */
const MARK = "^"

export const lexemesOf = (tokens: ReadonlyArray<string>): ReadonlyArray<string> => {
  const lexemes = new Set(tokens)
  for (const token of tokens) {
    const letters = [...token].slice(0, LETTERS_MAX)
    for (let n = 1; n <= letters.length; n++) lexemes.add(MARK + letters.slice(0, n).join(""))
  }
  return [...lexemes]
}

/** Text of a `tsquery`: every token is the prefix of some word. Quoted, because a token is data with any characters. */
export const prefixQueryOf = (tokens: ReadonlyArray<string>): string =>
  tokens.map((token) => ([...token].length <= LETTERS_MAX ? quote(MARK + token) : `${quote(token)}:*`)).join(" & ")

const quote = (lexeme: string): string => `'${lexeme.replace(/['\\]/gu, "$&$&")}'`
