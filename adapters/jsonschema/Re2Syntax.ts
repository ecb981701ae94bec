/**
 * Translates a pattern of JSON Schema (an ECMA-262 regular expression with the `u` flag) to RE2 with the same meaning.
 * Lookarounds and backreferences have no translation.
 */
const REPEAT_MAX = 1_000

/** ECMA-262's `\s`, which includes more than RE2's. */
const SPACE = String.raw`\t-\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}`
const NOT_SPACE = String.raw`\x{0}-\x{8}\x{e}-\x{1f}!-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027}\x{202a}-\x{202e}\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{fefe}\x{ff00}-\x{10ffff}`
const NOT_LINE_END = String.raw`[^\n\r\x{2028}\x{2029}]`
const ANY = String.raw`\x{0}-\x{10ffff}`

const QUANTIFIER = /\{(\d+)(?:,(\d*))?\}/uy
const CODE_POINT = /\\u\{([0-9a-fA-F]+)\}|\\u([0-9a-fA-F]{4})(?:\\u([0-9a-fA-F]{4}))?|\\x([0-9a-fA-F]{2})/uy
const PROPERTY = /\\([pP])\{(?:(?:gc|General_Category)=)?([A-Z][a-z]?)\}/uy

interface Piece {
  readonly text: string
  /** The position after it. */
  readonly next: number
}

/** Undefined if it cannot be expressed. Expects a pattern that `RegExp` accepts with the `u` flag. */
export const re2Syntax = (pattern: string): string | undefined => {
  if (!pattern.isWellFormed()) return undefined
  let text = ""
  let at = 0
  while (at < pattern.length) {
    const piece = pieceAt(pattern, at)
    if (piece === undefined) return undefined
    text += piece.text
    at = piece.next
  }
  return text
}

const pieceAt = (pattern: string, at: number): Piece | undefined => {
  const char = pattern[at]!
  switch (char) {
    case "\\":
      return escapeAt(pattern, at, false)
    case "[":
      return classAt(pattern, at)
    case "(":
      return groupAt(pattern, at)
    case "{":
      return quantifierAt(pattern, at)
    case ".":
      return { text: NOT_LINE_END, next: at + 1 }
    case "$":
      return { text: String.raw`\z`, next: at + 1 }
    default:
      return { text: char, next: at + 1 }
  }
}

const groupAt = (pattern: string, at: number): Piece | undefined => {
  if (pattern[at + 1] !== "?") return { text: "(?:", next: at + 1 }
  if (pattern[at + 2] === ":") return { text: "(?:", next: at + 3 }
  const isNamed = pattern[at + 2] === "<" && pattern[at + 3] !== "=" && pattern[at + 3] !== "!"
  return isNamed ? { text: "(?:", next: pattern.indexOf(">", at) + 1 } : undefined
}

const quantifierAt = (pattern: string, at: number): Piece | undefined => {
  QUANTIFIER.lastIndex = at
  const found = QUANTIFIER.exec(pattern)
  if (found === null || Math.max(Number(found[1]), Number(found[2] ?? 0)) > REPEAT_MAX) return undefined
  return { text: found[0], next: QUANTIFIER.lastIndex }
}

const classAt = (pattern: string, start: number): Piece | undefined => {
  const isNegated = pattern[start + 1] === "^"
  let at = start + (isNegated ? 2 : 1)
  let items = ""
  while (pattern[at] !== "]") {
    if (at >= pattern.length) return undefined
    const piece = pattern[at] === "\\" ? escapeAt(pattern, at, true) : literalInClass(pattern, at)
    if (piece === undefined) return undefined
    items += piece.text
    at = piece.next
  }
  // RE2 has no empty class: the first matches nothing, the second everything.
  const text = items !== "" ? `[${isNegated ? "^" : ""}${items}]` : isNegated ? `[${ANY}]` : `[^${ANY}]`
  return { text, next: at + 1 }
}

/** In RE2 `[` would start a POSIX class, and `^` negate. */
const literalInClass = (pattern: string, at: number): Piece => {
  const char = pattern[at]!
  return { text: char === "[" || char === "^" || char === "&" || char === "~" ? `\\${char}` : char, next: at + 1 }
}

const escapeAt = (pattern: string, at: number, inClass: boolean): Piece | undefined => {
  const char = pattern[at + 1]!
  const next = at + 2
  if (/[dDwWtnrfv]/u.test(char)) return { text: `\\${char}`, next }
  if (char === "s") return { text: inClass ? SPACE : `[${SPACE}]`, next }
  if (char === "S") return { text: inClass ? NOT_SPACE : `[${NOT_SPACE}]`, next }
  if (char === "b") return { text: inClass ? String.raw`\x{8}` : String.raw`\b`, next }
  if (char === "B") return { text: String.raw`\B`, next }
  if (char === "0") return { text: String.raw`\x{0}`, next }
  if (char === "c") return { text: `\\x{${(pattern.charCodeAt(next) % 32).toString(16)}}`, next: next + 1 }
  if (char === "u" || char === "x") return codePointAt(pattern, at)
  if (char === "p" || char === "P") return propertyAt(pattern, at)
  return /[\w]/u.test(char) ? undefined : { text: `\\${char}`, next }
}

const codePointAt = (pattern: string, at: number): Piece | undefined => {
  CODE_POINT.lastIndex = at
  const found = CODE_POINT.exec(pattern)
  if (found === null) return undefined
  const [, braced, unit, trail, byte] = found
  if (braced !== undefined || byte !== undefined)
    return codePoint(Number.parseInt(braced ?? byte!, 16), at + found[0].length)
  const lead = Number.parseInt(unit!, 16)
  const second = trail === undefined ? Number.NaN : Number.parseInt(trail, 16)
  if (lead >= 0xd800 && lead <= 0xdbff && second >= 0xdc00 && second <= 0xdfff) {
    return codePoint(0x10000 + (lead - 0xd800) * 0x400 + (second - 0xdc00), at + found[0].length)
  }
  return codePoint(lead, at + 6)
}

const codePoint = (code: number, next: number): Piece | undefined =>
  code >= 0xd800 && code <= 0xdfff ? undefined : { text: `\\x{${code.toString(16)}}`, next }

/** Short names of general categories, which both engines know. */
const propertyAt = (pattern: string, at: number): Piece | undefined => {
  PROPERTY.lastIndex = at
  const found = PROPERTY.exec(pattern)
  return found === null ? undefined : { text: `\\${found[1]}{${found[2]}}`, next: PROPERTY.lastIndex }
}
