/**
 * Shows that a regular expression runs in linear time on V8's engine, which backtracks. The pattern becomes an automaton
 * whose runs are the ways that the engine can try. All runs that a text can cause are followed at once, with their number:
 * as long as it stays below a limit, the engine's work grows with the length of the text and not faster.
 */
import { type AST, RegExpParser } from "@eslint-community/regexpp"

// Which characters each part of a pattern matches, and how the parts follow each other. What a class of Unicode properties
// matches is not known, so it counts as anything.

/** Says what is wrong with a pattern, and what to change. */
export class PatternFault extends Error {}

/** Code points. */
type Ranges = ReadonlyArray<readonly [from: number, to: number]>

type PatternNode =
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

const CLASSES = { digit: DIGITS, space: SPACE, word: WORD }

const rangesOfSet = (set: AST.CharacterSet): Ranges => {
  if (set.kind === "any") return NO_LINE_END
  if (set.kind === "property") return ANY
  return set.negate ? inverted(CLASSES[set.kind]) : CLASSES[set.kind]
}

const rangesOfClass = ({ elements, negate }: AST.CharacterClass): Ranges => {
  const ranges = elements.map((element): Ranges => {
    if (element.type === "Character") return [[element.value, element.value]]
    return element.type === "CharacterClassRange"
      ? [[element.min.value, element.max.value]]
      : rangesOfSet(element as AST.CharacterSet)
  })
  // Classes of Unicode properties can match anything, inverted or not.
  if (ranges.includes(ANY)) return ANY
  return negate ? inverted(ranges.flat()) : ranges.flat()
}

const assertionOf = (assertion: AST.Assertion): PatternNode => {
  switch (assertion.kind) {
    case "lookahead":
      return { kind: "ahead", of: { kind: "either", of: assertion.alternatives.map(nodesOf) } }
    case "lookbehind":
      throw new PatternFault("looks behind. Write it without (?<= and (?<!")
    case "word":
      return { kind: "boundary" }
    default:
      return { kind: assertion.kind }
  }
}

/** Throws `PatternFault` if ways through it cannot be followed. */
const nodeOf = (element: AST.Element): PatternNode => {
  switch (element.type) {
    case "Assertion":
      return assertionOf(element)
    case "Backreference":
      throw new PatternFault("has a backreference. Write it without one")
    case "Character":
      return { kind: "char", ranges: [[element.value, element.value]] }
    case "CharacterClass":
      return { kind: "char", ranges: rangesOfClass(element) }
    case "CharacterSet":
      return { kind: "char", ranges: rangesOfSet(element) }
    case "Quantifier": {
      const { element: of, end, max, min } = element
      return { kind: "repeat", of: nodeOf(of), min, max, atomEnd: of.end, end }
    }
    case "Group":
      if (element.modifiers !== null) throw new PatternFault("sets flags inside. Write it without (?i: and the like")
      return { kind: "either", of: element.alternatives.map(nodesOf) }
    case "CapturingGroup":
      return { kind: "either", of: element.alternatives.map(nodesOf) }
    case "ExpressionCharacterClass":
      throw new PatternFault("is written for the `v` flag. Write it for the `u` flag")
  }
}

const nodesOf = ({ elements }: AST.Alternative): Array<PatternNode> => elements.map(nodeOf)

const parser = new RegExpParser({ ecmaVersion: 2025 })

/** The alternatives of a pattern that `RegExp` accepts with the `u` flag. */
const parsePattern = (pattern: string): Array<Array<PatternNode>> => {
  try {
    return parser.parsePattern(pattern, 0, pattern.length, { unicode: true }).alternatives.map(nodesOf)
  } catch (cause) {
    // V8 may know a newer script than the parser.
    throw cause instanceof SyntaxError ? new PatternFault("has a property that is not known. Write it without") : cause
  }
}

export interface LinearPattern {
  /** The pattern, or one that matches the same texts in linear time. */
  readonly source: string
  /** Upper bound of steps per character of a text. */
  readonly steps: number
}

export const PATTERN_CHARS_MAX = 2_000
/** Ways to match the same text, up to any character of it. */
const WAYS_MAX = 200
/** Characters of the pattern, with repetitions written out. */
const PLACES_MAX = 1_000
/** A longer repetition counts as one without end. */
const WRITTEN_OUT_MAX = 130
/** About ten milliseconds. */
const WORK_MAX = 100_000

const IN_TOO_MANY_WAYS =
  "can match a text in too many ways to run in linear time. Start it with ^, and let each repeated part end at a " +
  "character that the part itself cannot contain, such as ^[a-z0-9-]+(\\.[a-z0-9-]+)*$"
const TOO_LARGE =
  "is too large to show that it runs in linear time. Shorten it, or set maxLength instead of repeating so much"

/**
 * Throws `PatternFault` if linear time cannot be shown. Expects what `RegExp` accepts with the `u` flag. `onWork` may throw to
 * end it.
 */
export const linearPattern = (pattern: string, onWork: Spend = () => undefined): LinearPattern => {
  if (pattern.length > PATTERN_CHARS_MAX) throw new PatternFault(TOO_LARGE)
  const alternatives = parsePattern(pattern)
  const [only, ...others] = alternatives
  let source = pattern
  const first = only?.[0]
  if (others.length === 0 && first?.kind === "repeat" && first.of.kind === "char") {
    // An unanchored search finds the same texts when the repetition begins later.
    source = `${first.min === 0 ? "" : `${pattern.slice(0, first.atomEnd)}{${first.min}}`}${pattern.slice(first.end)}`
    only![0] = { ...first, max: first.min }
  }
  for (const parts of alternatives) {
    const last = parts.at(-1)
    // After the last repetition nothing can fail.
    if (last?.kind === "repeat" && last.of.kind === "char") parts[parts.length - 1] = { ...last, max: last.min }
  }
  let work = 0
  const spend = (steps: number): void => {
    work += steps
    onWork(steps)
    if (work > WORK_MAX) throw new PatternFault(TOO_LARGE)
  }
  const steps = stepsOf(automatonOf({ kind: "either", of: alternatives }, spend), spend)
  return { source, steps }
}

/** Steps of about 100 ns. */
type Spend = (steps: number) => void

type Ways = ReadonlyMap<number, number>

/** A part of the automaton: the places where it can begin and end, and the ways to match nothing. */
interface Part {
  readonly first: Ways
  readonly last: Ways
  readonly empty: number
  readonly firstAtStart: Ways
  readonly emptyAtStart: number
}

interface Automaton {
  readonly whole: Part
  readonly places: ReadonlyArray<{ readonly ranges: Ranges; readonly next: Map<number, number> }>
}

const NOWHERE: Ways = new Map()
const NOTHING: Part = { first: NOWHERE, last: NOWHERE, empty: 1, firstAtStart: NOWHERE, emptyAtStart: 1 }

const sum = (a: Ways, b: Ways, times = 1): Ways => {
  if (times === 0 || b.size === 0) return a
  const all = new Map(a)
  for (const [place, ways] of b) all.set(place, (all.get(place) ?? 0) + ways * times)
  return all
}

const automatonOf = (root: PatternNode, spend: Spend): Automaton => {
  const places: Array<{ readonly ranges: Ranges; readonly next: Map<number, number> }> = []

  const connect = (from: Ways, to: Ways): void => {
    spend(from.size * to.size)
    for (const [place, waysFrom] of from) {
      const { next } = places[place]!
      for (const [after, waysTo] of to) next.set(after, (next.get(after) ?? 0) + waysFrom * waysTo)
    }
  }

  const then = (a: Part, b: Part): Part => {
    connect(a.last, b.first)
    spend(a.first.size + b.last.size)
    return checked({
      first: sum(a.first, b.first, a.empty),
      last: sum(b.last, a.last, b.empty),
      empty: a.empty * b.empty,
      firstAtStart: sum(a.firstAtStart, b.firstAtStart, a.emptyAtStart),
      emptyAtStart: a.emptyAtStart * b.emptyAtStart
    })
  }

  const or = (a: Part, b: Part): Part =>
    checked({
      first: sum(a.first, b.first),
      last: sum(a.last, b.last),
      empty: a.empty + b.empty,
      firstAtStart: sum(a.firstAtStart, b.firstAtStart),
      emptyAtStart: a.emptyAtStart + b.emptyAtStart
    })

  const again = (part: Part): Part => {
    connect(part.last, part.first)
    return part
  }

  const repeat = (of: PatternNode, min: number, max: number): Part => {
    const before = places.length
    let part = max === 0 ? NOTHING : partOf(of)
    const size = places.length - before
    if (max === 0 || size === 0) return min === 0 ? or(part, NOTHING) : part
    // A part that cannot match nothing is repeated in as many ways as with its repetitions written out.
    const isLoop = max === Infinity || (part.empty + part.emptyAtStart === 0 && size * max > WRITTEN_OUT_MAX)
    if (isLoop && (min <= 1 || size * min > WRITTEN_OUT_MAX)) {
      if (part.empty + part.emptyAtStart === 0) return min === 0 ? or(again(part), NOTHING) : again(part)
    }
    if (!isLoop && size * max > PLACES_MAX) throw new PatternFault(TOO_LARGE)
    const optional: ReadonlyArray<Part> = isLoop
      ? [or(again(min === 0 ? part : partOf(of)), NOTHING)]
      : Array.from({ length: max - min }, (_, n) => (n === 0 && min === 0 ? part : partOf(of)))
    const rest = isLoop ? optional[0]! : optional.reduceRight((tail, copy) => or(then(copy, tail), NOTHING), NOTHING)
    if (min === 0) return rest
    for (let n = 1; n < min; n++) part = then(part, partOf(of))
    return then(part, rest)
  }

  const partOf = (node: PatternNode): Part => {
    switch (node.kind) {
      case "char": {
        if (places.push({ ranges: node.ranges, next: new Map() }) > PLACES_MAX) throw new PatternFault(TOO_LARGE)
        const here = new Map([[places.length - 1, 1]])
        return { first: here, last: here, empty: 0, firstAtStart: here, emptyAtStart: 0 }
      }
      case "either":
        return node.of.map((parts) => parts.reduce((part, next) => then(part, partOf(next)), NOTHING)).reduce(or)
      case "ahead":
        // Its ways end inside.
        return { ...partOf(node.of), last: NOWHERE, empty: 1, emptyAtStart: 1 }
      case "start":
        return { ...NOTHING, empty: 0 }
      case "end":
        return { ...NOTHING, empty: 0, emptyAtStart: 0 }
      case "boundary":
        return NOTHING
      case "repeat":
        return repeat(node.of, node.min, node.max)
    }
  }

  return { whole: partOf(root), places }
}

const checked = (part: Part): Part => {
  if (Math.max(part.empty, part.emptyAtStart) > WAYS_MAX) throw new PatternFault(IN_TOO_MANY_WAYS)
  return part
}

/** Steps per character. Follows the ways of every text, each set of ways once. */
const stepsOf = ({ places, whole }: Automaton, spend: Spend): number => {
  const kinds = kindsOf(new Set(places.map(({ ranges }) => ranges)), spend)
  let steps = 1
  const seen = new Set<string>()
  const waiting: Array<Ways | undefined> = [undefined]
  while (waiting.length > 0) {
    const ways = waiting.pop()
    const reached = new Map(ways === undefined ? whole.firstAtStart : whole.first)
    for (const [place, count] of ways ?? NOWHERE) {
      const { next } = places[place]!
      spend(next.size)
      for (const [after, times] of next) reached.set(after, (reached.get(after) ?? 0) + count * times)
    }
    steps = Math.max(steps, total(ways ?? NOWHERE) + total(reached))
    for (const matches of kinds) {
      spend(1 + reached.size)
      const after = new Map([...reached].filter(([place]) => matches.has(places[place]!.ranges)))
      if (total(after) > WAYS_MAX) throw new PatternFault(IN_TOO_MANY_WAYS)
      const key = [...after].toSorted(([a], [b]) => a - b).join(";")
      if (seen.has(key)) continue
      seen.add(key)
      waiting.push(after)
    }
  }
  return steps
}

const total = (ways: Ways): number => {
  let all = 0
  for (const count of ways.values()) all += count
  return all
}

/** Maps each kind of characters that the places tell apart to a matcher. */
const kindsOf = (all: ReadonlySet<Ranges>, spend: Spend): ReadonlyArray<ReadonlySet<Ranges>> => {
  const borders = new Set([0])
  let size = 0
  for (const ranges of all) {
    size += ranges.length
    for (const [from, to] of ranges) borders.add(from).add(to + 1)
  }
  // A step here takes a tenth of the time.
  spend((size * borders.size) / 10)
  const kinds = new Map<string, ReadonlySet<Ranges>>()
  for (const char of borders) {
    const matches = [...all].map((ranges) => ranges.some(([from, to]) => from <= char && char <= to))
    const key = matches.join("")
    if (!kinds.has(key)) kinds.set(key, new Set([...all].filter((_, n) => matches[n])))
  }
  return [...kinds.values()]
}
