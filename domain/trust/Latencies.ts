/**
 * How long calls took, as a mergeable count of each length in whole milliseconds. Exact as long as few calls are in it;
 * beyond that lengths are taken together, each at most one part in 128 from what it was.
 */
export type Latencies = ReadonlyMap<number, number>

/** So many calls keep their exact lengths. */
export const EXACT_CALLS_MAX = 10_000
/** Lengths below are always exact; above, each doubling has as many steps. */
const STEPS = 64

export const countOf = (latencies: Latencies): number => {
  let count = 0
  for (const calls of latencies.values()) count += calls
  return count
}

export const merge = (parts: Iterable<Latencies>): Latencies => {
  const merged = new Map<number, number>()
  for (const part of parts) {
    for (const [ms, calls] of part) merged.set(ms, (merged.get(ms) ?? 0) + calls)
  }
  return merged
}

/** As it is kept: exact up to a number of calls, coarser from there on. */
export const bounded = (latencies: Latencies): Latencies => {
  if (countOf(latencies) <= EXACT_CALLS_MAX) return latencies
  const coarser = new Map<number, number>()
  for (const [ms, calls] of latencies) {
    const step = stepOf(ms)
    coarser.set(step, (coarser.get(step) ?? 0) + calls)
  }
  return coarser
}

/** The middle of the step that a length falls into; again of that: the same. */
export const stepOf = (ms: number): number => {
  if (ms < 2 * STEPS) return ms
  const width = 2 ** (Math.floor(Math.log2(ms)) - Math.log2(STEPS))
  return Math.floor(ms / width) * width + Math.floor(width / 2)
}

/** Nearest rank: the element ceil(p · n) of the sorted list; undefined where there is none. */
export const percentiles = (latencies: Latencies, shares: ReadonlyArray<number>): ReadonlyArray<number | undefined> => {
  const count = countOf(latencies)
  const sorted = [...latencies].toSorted(([a], [b]) => a - b)
  return shares.map((share) => {
    const rank = Math.max(1, Math.ceil(share * count))
    let passed = 0
    for (const [ms, calls] of sorted) {
      passed += calls
      if (passed >= rank) return ms
    }
    return undefined
  })
}

/** Pairs of a step from the length before and a count, seven bits to a byte. */
export const encode = (latencies: Latencies): Uint8Array => {
  const bytes: Array<number> = []
  const push = (value: number): void => {
    let rest = value
    while (rest >= 128) {
      bytes.push((rest % 128) + 128)
      rest = Math.floor(rest / 128)
    }
    bytes.push(rest)
  }
  let before = 0
  for (const [ms, calls] of [...latencies].toSorted(([a], [b]) => a - b)) {
    push(ms - before)
    push(calls)
    before = ms
  }
  return Uint8Array.from(bytes)
}

export const decode = (bytes: Uint8Array): Latencies => {
  const latencies = new Map<number, number>()
  let at = 0
  const pull = (): number => {
    let value = 0
    let weight = 1
    while (true) {
      const byte = bytes[at++]!
      value += (byte % 128) * weight
      if (byte < 128) return value
      weight *= 128
    }
  }
  let ms = 0
  while (at < bytes.length) {
    ms += pull()
    latencies.set(ms, pull())
  }
  return latencies
}
