/**
 * Reads a regular expression with the `u` flag: which characters each part matches, and how the parts follow each other. What
 * a class of Unicode properties matches is not known, so it counts as anything.
 */

/** What is wrong with a pattern, and what to change. */
export class PatternFault extends Error {}

/** Code points. */
export type Ranges = ReadonlyArray<readonly [from: number, to: number]>

export type PatternNode =
  | { readonly kind: "char"; readonly ranges: Ranges }
  | { readonly kind: "either"; readonly of: ReadonlyArray<ReadonlyArray<PatternNode>> }
  | { readonly kind: "ahead"; readonly of: PatternNode }
  | { readonly kind: "start" | "end" | "boundary" }
  | {
      readonly kind: "repeat"
      readonly of: PatternNode
      readonly min: number
      readonly max: number
      readonly atomEnd: number
      readonly end: number
    }

const LAST = 0x10ffff
const ANY: Ranges = [[0, LAST]]

const inverted = (ranges: Ranges): Ranges => {
  const gaps: Array<readonly [number, number]> = []
  let next = 0
  for (const [from, to] of ranges.toSorted((a, b) => a[0] - b[0])) {
    if (from > next) gaps.push([next, from - 1])
    next = Math.max(next, to + 1)
  }
  return next > LAST ? gaps : [...gaps, [next, LAST]]
}

/** Pairs of characters. */
const codes = (pairs: string): Ranges =>
  Array.from({ length: pairs.length / 2 }, (_, n) => [pairs.charCodeAt(2 * n), pairs.charCodeAt(2 * n + 1)])

const DIGITS = codes("09")
const WORD = codes("09AZ__az")
const SPACE = codes(
  "\t\r  \u00a0\u00a0\u1680\u1680\u2000\u200a\u2028\u2029\u202f\u202f\u205f\u205f\u3000\u3000\ufeff\ufeff"
)
const NO_LINE_END = inverted(codes("\n\n\r\r\u2028\u2029"))

const CLASSES: Readonly<Record<string, Ranges>> = {
  d: DIGITS,
  D: inverted(DIGITS),
  w: WORD,
  W: inverted(WORD),
  s: SPACE,
  S: inverted(SPACE)
}
const CONTROLS: Readonly<Record<string, number>> = { t: 9, n: 10, v: 11, f: 12, r: 13, b: 8, 0: 0 }

const QUANTIFIER = /(?:([*+?])|\{(\d+)(,(\d*))?\})\??/uy
const GROUP = /\((?:\?(?:(:)|([=!])|<[^=!>][^>]*>)|(?!\?))/uy
const CODE_POINT =
  /u\{([0-9a-fA-F]+)\}|u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})/uy
const PROPERTY = /[pP]\{[^}]*\}/uy

/** The alternatives of a pattern that `RegExp` accepts with the `u` flag. Throws `PatternFault` if ways through it cannot be followed. */
export const parsePattern = (pattern: string): Array<Array<PatternNode>> => {
  let at = 0

  const taken = (syntax: RegExp): RegExpExecArray | undefined => {
    syntax.lastIndex = at
    const found = syntax.exec(pattern)
    if (found !== null) at = syntax.lastIndex
    return found ?? undefined
  }

  const either = (): Array<Array<PatternNode>> => {
    const alternatives: Array<Array<PatternNode>> = [[]]
    while (at < pattern.length && pattern[at] !== ")") {
      if (pattern[at] === "|") {
        at++
        alternatives.push([])
      } else alternatives.at(-1)!.push(repeated())
    }
    return alternatives
  }

  const repeated = (): PatternNode => {
    const of = one()
    const atomEnd = at
    const found = taken(QUANTIFIER)
    if (found === undefined) return of
    const [, sign, least, comma, most] = found
    const min = sign === undefined ? Number(least) : sign === "+" ? 1 : 0
    const max =
      sign === "?" ? 1 : sign !== undefined || most === "" ? Infinity : comma === undefined ? min : Number(most)
    return { kind: "repeat", of, min, max, atomEnd, end: at }
  }

  const one = (): PatternNode => {
    const char = pattern[at]!
    if (char === "(") return group()
    if (char === "[") return { kind: "char", ranges: charClass() }
    if (char === "\\") {
      at++
      if (/[bB]/u.test(pattern[at]!)) {
        at++
        return { kind: "boundary" }
      }
      if (/[1-9k]/u.test(pattern[at]!)) throw new PatternFault("has a backreference. Write it without one")
      return { kind: "char", ranges: escaped() }
    }
    if (char === ".") return (at++, { kind: "char", ranges: NO_LINE_END })
    if (char === "^") return (at++, { kind: "start" })
    if (char === "$") return (at++, { kind: "end" })
    return { kind: "char", ranges: literal() }
  }

  const group = (): PatternNode => {
    const found = taken(GROUP)
    if (found === undefined) {
      throw new PatternFault(
        /^\(\?<[=!]/u.test(pattern.slice(at))
          ? "looks behind. Write it without (?<= and (?<!"
          : "sets flags inside. Write it without (?i: and the like"
      )
    }
    const of: PatternNode = { kind: "either", of: either() }
    at++
    return found[2] === undefined ? of : { kind: "ahead", of }
  }

  const literal = (): Ranges => {
    const code = pattern.codePointAt(at)!
    at += code > 0xffff ? 2 : 1
    return [[code, code]]
  }

  /** After the backslash. */
  const escaped = (): Ranges => {
    const char = pattern[at]!
    if (taken(PROPERTY) !== undefined) return ANY
    const known = CLASSES[char]
    if (known !== undefined) return (at++, known)
    const found = taken(CODE_POINT)
    if (found !== undefined) {
      const [, braced, lead, trail, unit, byte] = found
      const hex = braced ?? unit ?? byte
      const code =
        hex === undefined
          ? 0x10000 + (Number.parseInt(lead!, 16) - 0xd800) * 0x400 + (Number.parseInt(trail!, 16) - 0xdc00)
          : Number.parseInt(hex, 16)
      return [[code, code]]
    }
    if (char === "c") {
      at += 2
      const code = pattern.charCodeAt(at - 1) % 32
      return [[code, code]]
    }
    const control = CONTROLS[char]
    if (control !== undefined) return (at++, [[control, control]])
    return literal()
  }

  const charClass = (): Ranges => {
    at++
    const isInverted = pattern[at] === "^"
    if (isInverted) at++
    const ranges: Array<readonly [number, number]> = []
    let isKnown = true
    const item = (): Ranges => {
      if (pattern[at] !== "\\") return literal()
      at++
      const found = escaped()
      if (found === ANY) isKnown = false
      return found
    }
    while (pattern[at] !== "]") {
      const from = item()
      if (pattern[at] !== "-" || pattern[at + 1] === "]") ranges.push(...from)
      else {
        at++
        ranges.push([from[0]![0], item()[0]![1]])
      }
    }
    at++
    // Classes of Unicode properties can match anything, inverted or not.
    if (!isKnown) return ANY
    return isInverted ? inverted(ranges) : ranges
  }

  return either()
}
