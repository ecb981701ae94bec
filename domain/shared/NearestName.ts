/**
 * The known names that are closest to a misspelled one, for "Did you mean …?". The work per candidate is bounded by the
 * lengths of both names; callers bound the number of candidates.
 */

/** Longer names get no suggestion. */
const CHARS_MAX = 128
export const GUESSES_MAX = 3
/** The common words at the start have at least this length; shorter ones are too common to be useful. */
const PART_CHARS_MIN = 3

/**
 * Compares by edit distance, ignoring case and separators (`dryRun` matches `dry_run`). If none is close enough, finds
 * a name that begins with the same words: `max_price` matches `max_price_microcents`.
 */
export const nearestName = (name: string, candidates: Iterable<string>): string | undefined =>
  nearestNames(name, candidates, 1)[0]

/** The closest one, and others that are as close: at most `max`, the first ones. */
export const nearestNames = (name: string, candidates: Iterable<string>, max: number): ReadonlyArray<string> => {
  if (name.length > CHARS_MAX) return []
  const wanted = plain(name)
  const words = wordsOf(name)
  const near = lowest(max, editsMax(wanted.length))
  const related = lowest(max, -PART_CHARS_MIN)
  for (const candidate of candidates) {
    if (candidate.length > CHARS_MAX) continue
    near.add(candidate, editDistance(wanted, plain(candidate), near.limit()))
    related.add(candidate, -sharedStart(words, wordsOf(candidate)))
  }
  return near.names().length > 0 ? near.names() : related.names()
}

const MISSPELLED_CHARS_MIN = 7

/**
 * The name that this one is likely a misspelling of, where names of other programs stand beside it: one edit apart, with the same
 * first letter and as many words. Short names are too close to each other.
 */
export const misspelledName = (name: string, candidates: Iterable<string>): string | undefined => {
  const wanted = plain(name)
  if (name.length > CHARS_MAX || wanted.length < MISSPELLED_CHARS_MIN) return undefined
  for (const candidate of candidates) {
    const known = plain(candidate)
    const isAlike = known[0] === wanted[0] && wordsOf(candidate).length === wordsOf(name).length
    if (isAlike && editDistance(wanted, known, 1) <= 1) return candidate
  }
  return undefined
}

/** Keeps the first names of the lowest rank, which is at most `limit`. */
const lowest = (max: number, limit: number) => {
  let best = limit
  let names: Array<string> = []
  return {
    /** Higher ranks are not kept. */
    limit: (): number => (names.length < max ? best : best - 1),
    add: (name: string, rank: number): void => {
      if (rank < best) {
        best = rank
        names = []
      }
      if (rank === best && names.length < max) names.push(name)
    },
    names: (): ReadonlyArray<string> => names
  }
}

/** "Did you mean `a`, `b` or `c`?", after a space; empty without names. */
export const guessOf = (names: ReadonlyArray<string>): string => {
  if (names.length === 0) return ""
  const quoted = names.map((name) => `\`${name}\``)
  return ` Did you mean ${[quoted.slice(0, -1).join(", "), quoted.at(-1)].filter(Boolean).join(" or ")}?`
}

const SEPARATORS = /[^\p{L}\p{N}]+/u

const plain = (name: string): string => name.toLowerCase().split(SEPARATORS).join("")

const wordsOf = (name: string): ReadonlyArray<string> =>
  name
    .replaceAll(/(?<=\p{Ll})(?=\p{Lu})/gu, "_")
    .toLowerCase()
    .split(SEPARATORS)
    .filter((word) => word !== "")

/** A third of the name may differ. */
const editsMax = (length: number): number => (length < 3 ? 0 : Math.min(3, Math.ceil(length / 4)))

/** Letters in the words that both begin with. */
const sharedStart = (one: ReadonlyArray<string>, other: ReadonlyArray<string>): number => {
  let letters = 0
  for (let i = 0; i < one.length && one[i] === other[i]; i++) letters += one[i]!.length
  return letters
}

/**
 * Insertions, deletions, replacements and swaps of neighbors; `max + 1` if there are more than `max`. Only places that `max`
 * insertions can reach are computed.
 */
const editDistance = (one: string, other: string, max: number): number => {
  const beyond = max + 1
  if (Math.abs(one.length - other.length) > max || max < 0) return beyond
  const size = other.length + 1
  let beforeLast = new Uint16Array(size)
  let last = Uint16Array.from({ length: size }, (_, j) => j)
  let row = new Uint16Array(size)
  for (let i = 1; i <= one.length; i++) {
    row.fill(beyond)
    row[0] = i
    let least = Math.min(i, beyond)
    const end = Math.min(other.length, i + max)
    for (let j = Math.max(1, i - max); j <= end; j++) {
      const isSame = one[i - 1] === other[j - 1]
      let edits = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + (isSame ? 0 : 1))
      if (i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1]) {
        edits = Math.min(edits, beforeLast[j - 2]! + 1)
      }
      row[j] = edits
      least = Math.min(least, edits)
    }
    if (least > max) return beyond
    const free = beforeLast
    beforeLast = last
    last = row
    row = free
  }
  return Math.min(last[other.length]!, beyond)
}
