/**
 * Search tokens as PostgreSQL lexemes. A tool's vector holds its tokens and, marked, their first letters: short
 * beginnings, which match very many words, are then found at one place of the index instead of at thousands.
 */
const LETTERS_MAX = 3
/** No token has it: tokens are letters and digits. */
const MARK = "^"

export const lexemesOf = (tokens: ReadonlyArray<string>): ReadonlyArray<string> => {
  const lexemes = new Set(tokens)
  for (const token of tokens) {
    const letters = [...token].slice(0, LETTERS_MAX)
    for (let n = 1; n <= letters.length; n++) lexemes.add(MARK + letters.slice(0, n).join(""))
  }
  return [...lexemes]
}

/** Text of a `tsquery`: every token begins some word. Quoted: a token is data, whatever characters it has. */
export const prefixQueryOf = (tokens: ReadonlyArray<string>): string =>
  tokens.map((token) => ([...token].length <= LETTERS_MAX ? quote(MARK + token) : `${quote(token)}:*`)).join(" & ")

const quote = (lexeme: string): string => `'${lexeme.replace(/['\\]/gu, "$&$&")}'`
