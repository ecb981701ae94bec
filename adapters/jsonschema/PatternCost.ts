/**
 * Upper bound for the steps of a backtracking engine on a regular expression, from its shape. Infinite if the shape
 * allows no useful bound: repeated groups that can match in several ways, backreferences, lookbehinds, and very long
 * patterns.
 */
const PATTERN_CHARS_MAX = 1_000

export interface PatternCost {
  /** Positions of the pattern with fixed repetitions expanded, times the ways to choose between alternatives. */
  readonly factor: number
  /** How many parts can each match any length of the text. */
  readonly degree: number
}

/** For a text of this length. */
export const stepsOf = ({ degree, factor }: PatternCost, chars: number): number => factor * (chars + 1) ** degree

/** State of a group while it is parsed. */
interface Group {
  /** Something inside can match in more than one way. */
  ambiguous: boolean
  alternatives: number
}

const QUANTIFIER = /(?:[*+?]|\{(\d+)(,(\d*))?\})\??/uy
const UNBOUNDED: PatternCost = { factor: Infinity, degree: 0 }

/** Expects a valid regular expression. */
export const costOf = (pattern: string): PatternCost => {
  if (pattern.length > PATTERN_CHARS_MAX) return UNBOUNDED
  const groups: Array<Group> = [{ ambiguous: false, alternatives: 1 }]
  let places = Math.max(1, pattern.length)
  let ways = 1
  let degree = pattern.startsWith("^") ? 0 : 1
  let at = 0
  while (at < pattern.length) {
    const group = groups.at(-1)!
    let closed: Group | undefined
    switch (pattern[at]) {
      case "\\":
        if (/[1-9k]/u.test(pattern[at + 1] ?? "")) return UNBOUNDED
        at += 2
        break
      case "[":
        at = endOfClass(pattern, at)
        break
      case "(":
        if (pattern.startsWith("(?<=", at) || pattern.startsWith("(?<!", at)) return UNBOUNDED
        groups.push({ ambiguous: false, alternatives: 1 })
        at++
        if (pattern[at] === "?") at += 2
        continue
      case "|":
        group.ambiguous = true
        group.alternatives++
        at++
        continue
      case ")":
        if (groups.length === 1) return UNBOUNDED
        closed = groups.pop()!
        ways *= closed.alternatives
        if (closed.ambiguous) groups.at(-1)!.ambiguous = true
        at++
        break
      default:
        at++
    }
    QUANTIFIER.lastIndex = at
    const quantifier = QUANTIFIER.exec(pattern)
    if (quantifier === null) continue
    at = QUANTIFIER.lastIndex
    const { max, min } = timesOf(quantifier)
    if (closed?.ambiguous === true && max > 1) return UNBOUNDED
    const written = Number.isFinite(max) ? max : min
    if (closed !== undefined) places *= Math.max(1, written)
    else places += written
    if (min === max) continue
    groups.at(-1)!.ambiguous = true
    if (max === 1) ways *= 2
    else degree++
  }
  return { factor: places * ways * groups[0]!.alternatives, degree }
}

const endOfClass = (pattern: string, start: number): number => {
  let at = start + 1
  while (at < pattern.length && pattern[at] !== "]") at += pattern[at] === "\\" ? 2 : 1
  return at + 1
}

const timesOf = ([text, min, comma, max]: RegExpExecArray): { readonly min: number; readonly max: number } => {
  if (min === undefined) return { min: text.startsWith("+") ? 1 : 0, max: text.startsWith("?") ? 1 : Infinity }
  const least = Number(min)
  return { min: least, max: comma === undefined ? least : max === "" ? Infinity : Number(max) }
}
