/**
 * The known name that is closest to a misspelled one, for "Did you mean …?". The work per candidate is bounded by the
 * lengths of both names; callers bound the number of candidates.
 */

/** Longer names get no suggestion. */
const CHARS_MAX = 128
/** Shorter words are too common to be useful. */
const PART_CHARS_MIN = 3

/**
 * By edit distance, ignoring case and separators (`dryRun` matches `dry_run`). If none is close enough, a name that
 * begins with the same words: `max_price` matches `max_price_microcents`, `expires_in_days` matches `expires_at`.
 */
export const nearestName = (name: string, candidates: Iterable<string>): string | undefined => {
  if (name.length > CHARS_MAX) return undefined
  const wanted = plain(name)
  const words = wordsOf(name)
  let nearest: string | undefined
  let least = editsMax(wanted.length) + 1
  let related: string | undefined
  let sharedMost = 0
  for (const candidate of candidates) {
    if (candidate.length > CHARS_MAX) continue
    const edits = editDistance(wanted, plain(candidate), least - 1)
    if (edits < least) {
      least = edits
      nearest = candidate
      if (edits === 0) break
    }
    const shared = sharedStart(words, wordsOf(candidate))
    if (shared > sharedMost) {
      sharedMost = shared
      related = candidate
    }
  }
  return nearest ?? related
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
  return letters < PART_CHARS_MIN ? 0 : letters
}

/** Insertions, deletions, replacements and swaps of neighbors; `max + 1` if there are more than `max`. */
const editDistance = (one: string, other: string, max: number): number => {
  if (Math.abs(one.length - other.length) > max) return max + 1
  let beforeLast: ReadonlyArray<number> = []
  let last = Array.from({ length: other.length + 1 }, (_, j) => j)
  for (let i = 1; i <= one.length; i++) {
    const row = [i]
    let least = i
    for (let j = 1; j <= other.length; j++) {
      const isSame = one[i - 1] === other[j - 1]
      let edits = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + (isSame ? 0 : 1))
      if (i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1]) {
        edits = Math.min(edits, beforeLast[j - 2]! + 1)
      }
      row.push(edits)
      least = Math.min(least, edits)
    }
    if (least > max) return max + 1
    beforeLast = last
    last = row
  }
  return last[other.length]!
}
