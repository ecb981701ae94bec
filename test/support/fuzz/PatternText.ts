/**
 * A text that a pattern matches: for the patterns of the OpenAPI document, which are anchored and made of literals,
 * classes, groups with alternatives, and counts. Another kind of pattern fails, so that it is not taken for covered.
 */
import type { Chance } from "./Chance.ts"

const REPEATS_MAX = 12

export const textMatching = (pattern: string, chance: Chance): string => {
  let at = 0

  const alternatives = (): string => {
    const options = [sequence()]
    while (pattern[at] === "|") {
      at++
      options.push(sequence())
    }
    return chance.pick(options)
  }

  const sequence = (): string => {
    let text = ""
    while (at < pattern.length && pattern[at] !== ")" && pattern[at] !== "|") text += repeated()
    return text
  }

  const repeated = (): string => {
    const begin = at
    const first = atom()
    const end = at
    const [min, max] = counts()
    const after = at
    const times = min + chance.below(Math.min(max, min + REPEATS_MAX) - min + 1)
    let text = times === 0 ? "" : first
    for (let n = 1; n < times; n++) {
      at = begin
      text += atom()
      if (at !== end) throw new Error(`${pattern} was read in two ways`)
    }
    at = after
    return text
  }

  const atom = (): string => {
    const char = pattern[at++]!
    if (char === "^" || char === "$") return ""
    if (char === "(") {
      const isLookahead = pattern.startsWith("?=", at)
      if (isLookahead || pattern.startsWith("?:", at)) at += 2
      else if (pattern[at] === "?") throw new Error(`No generator for the group in ${pattern}`)
      // A lookahead, such as a length, is left to chance.
      if (isLookahead) {
        at = pattern.indexOf(")", at) + 1
        return ""
      }
      const text = alternatives()
      at++
      return text
    }
    if (char === "[") return chance.pick(members())
    if (char === "\\") return pattern[at++] === "d" ? chance.pick(DIGITS) : pattern[at - 1]!
    if (char === "." || char === "*" || char === "+") throw new Error(`No generator for ${char} in ${pattern}`)
    return char
  }

  const members = (): ReadonlyArray<string> => {
    const found: Array<string> = []
    for (; pattern[at] !== "]"; at++) {
      const [from, dash, to] = [pattern[at]!, pattern[at + 1], pattern[at + 2]]
      if (dash === "-" && to !== undefined && to !== "]") {
        for (let code = from.charCodeAt(0); code <= to.charCodeAt(0); code++) found.push(String.fromCharCode(code))
        at += 2
      } else found.push(from)
    }
    at++
    return found
  }

  const counts = (): readonly [min: number, max: number] => {
    if (pattern[at] === "+" || pattern[at] === "*") return [pattern[at++] === "+" ? 1 : 0, Number.POSITIVE_INFINITY]
    if (pattern[at] === "?") {
      at++
      return [0, 1]
    }
    const braces = /^\{(\d+)(?:,(\d+))?\}/u.exec(pattern.slice(at))
    if (braces === null) return [1, 1]
    at += braces[0].length
    return [Number(braces[1]), Number(braces[2] ?? braces[1])]
  }

  return alternatives()
}

const DIGITS = [..."0123456789"]
