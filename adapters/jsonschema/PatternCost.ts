/**
 * How many steps a backtracking engine can need at most for a regular expression: a bound that follows from its shape.
 * Infinite where the shape alone allows no useful bound: repeated groups that can match in several ways, references
 * back, looks behind.
 */

export interface PatternCost {
  /** Ways to choose between alternatives, times the places of the pattern. */
  readonly factor: number
  /** How many parts can each stretch over any length of the text. */
  readonly degree: number
}

/** For a text of so many characters. */
export const stepsOf = ({ degree, factor }: PatternCost, chars: number): number => factor * (chars + 1) ** degree

/** What is known of a group while it is read. */
interface Group {
  /** Something inside can match in more than one way. */
  ambiguous: boolean
  alternatives: number
}

const QUANTIFIER = /(?:[*+?]|\{(\d+)(,(\d*))?\})\??/uy
const UNBOUNDED: PatternCost = { factor: Infinity, degree: Infinity }

export const costOf = (pattern: string): PatternCost => {
  const groups: Array<Group> = [{ ambiguous: false, alternatives: 1 }]
  let factor = Math.max(1, pattern.length)
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
        closed = groups.pop()
        at++
        break
      default:
        at++
    }
    if (closed !== undefined) factor *= closed.alternatives
    QUANTIFIER.lastIndex = at
    const quantifier = QUANTIFIER.exec(pattern)
    const around = groups.at(-1)!
    if (closed?.ambiguous === true) around.ambiguous = true
    if (quantifier === null) continue
    at = QUANTIFIER.lastIndex
    const { max, min } = timesOf(quantifier)
    if (closed?.ambiguous === true && max > 1) return UNBOUNDED
    if (min === max) continue
    around.ambiguous = true
    if (max === 1) factor *= 2
    else degree++
  }
  factor *= groups[0]!.alternatives
  return { factor, degree }
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
