/**
 * Latencies as a mergeable count per whole millisecond. Exact for few calls; beyond that latencies are grouped, each at
 * most 1/128 off. Stored as bytes, the same for the same counts: pairs of the difference to the previous latency and a
 * count, seven bits per byte.
 */
export type Latencies = Uint8Array

/** Up to this many calls keep exact latencies. */
export const EXACT_CALLS_MAX = 10_000
/** Latencies below twice this value are always exact; above, each doubling has as many steps. */
const STEPS = 64

/** Each latency once, ascending. */
interface Counts {
  readonly lengths: ReadonlyArray<number>
  readonly calls: ReadonlyArray<number>
  readonly total: number
}

export const latenciesOf = (lengths: ReadonlyArray<number>): Latencies => {
  for (const ms of lengths) note(ms, 1)
  return written(taken())
}

export const merge = (parts: ReadonlyArray<Latencies>): Latencies =>
  parts.length === 1 ? parts[0]! : written(counted(parts))

export const countOf = (latencies: Latencies): number => totalOf(decodeEntries(latencies))

/** Bounds what is stored: exact up to a number of calls, grouped above. */
export const bounded = (latencies: Latencies): Latencies => {
  const count = decodeEntries(latencies)
  if (totalOf(count) <= EXACT_CALLS_MAX) return latencies
  for (let n = 0; n < count; n++) note(stepOf(entryMs[n]!), entryCalls[n]!)
  return written(taken())
}

/** The middle of the step of a latency; idempotent. */
export const stepOf = (ms: number): number => {
  if (ms < 2 * STEPS) return ms
  const width = 2 ** (Math.floor(Math.log2(ms)) - Math.log2(STEPS))
  return Math.floor(ms / width) * width + Math.floor(width / 2)
}

/** Nearest rank: the element ceil(p · n) of the sorted list; undefined if it is empty. */
export const percentiles = (
  parts: ReadonlyArray<Latencies>,
  shares: ReadonlyArray<number>
): ReadonlyArray<number | undefined> => {
  const [only] = parts
  if (only !== undefined && parts.length === 1) return percentilesOf(decodeEntries(only), shares)
  const { calls, lengths, total } = counted(parts)
  return shares.map((share) => {
    const rank = Math.max(1, Math.ceil(share * total))
    let passed = 0
    for (const [at, ms] of lengths.entries()) {
      passed += calls[at]!
      if (passed >= rank) return ms
    }
    return undefined
  })
}

/** The first `count` decoded entries are sorted. */
const percentilesOf = (count: number, shares: ReadonlyArray<number>): ReadonlyArray<number | undefined> => {
  const total = totalOf(count)
  return shares.map((share) => {
    const rank = Math.max(1, Math.ceil(share * total))
    let passed = 0
    for (let n = 0; n < count; n++) {
      passed += entryCalls[n]!
      if (passed >= rank) return entryMs[n]
    }
    return undefined
  })
}

export const lengthsIn = (latencies: Latencies): number => decodeEntries(latencies)

/** Counting is the hot part, so usual latencies are counted in a reused array; nothing is asynchronous in between. */
const DENSE = 8_192
const dense = new Float64Array(DENSE)
const sparse = new Map<number, number>()
let longest = -1

const note = (ms: number, calls: number): void => {
  if (ms < DENSE) {
    dense[ms]! += calls
    if (ms > longest) longest = ms
  } else sparse.set(ms, (sparse.get(ms) ?? 0) + calls)
}

const taken = (): Counts => {
  const lengths: Array<number> = []
  const calls: Array<number> = []
  let total = 0
  for (let ms = 0; ms <= longest; ms++) {
    const count = dense[ms]!
    if (count === 0) continue
    dense[ms] = 0
    lengths.push(ms)
    calls.push(count)
    total += count
  }
  for (const [ms, count] of [...sparse].toSorted(([a], [b]) => a - b)) {
    lengths.push(ms)
    calls.push(count)
    total += count
  }
  longest = -1
  sparse.clear()
  return { lengths, calls, total }
}

const counted = (parts: Iterable<Latencies>): Counts => {
  for (const bytes of parts) {
    const count = decodeEntries(bytes)
    for (let n = 0; n < count; n++) note(entryMs[n]!, entryCalls[n]!)
  }
  return taken()
}

/** Reused, like the counts: nothing is asynchronous in between. */
let entryMs = new Float64Array(1_024)
let entryCalls = new Float64Array(1_024)

/** Decodes latencies and their counts into the arrays; returns how many. */
const decodeEntries = (bytes: Latencies): number => {
  // Each pair takes at least two bytes.
  if (bytes.length / 2 > entryMs.length) {
    entryMs = new Float64Array(bytes.length)
    entryCalls = new Float64Array(bytes.length)
  }
  let count = 0
  let at = 0
  let ms = 0
  while (at < bytes.length) {
    let byte = bytes[at++]!
    let step = byte & 127
    for (let weight = 128; byte > 127; weight *= 128) {
      byte = bytes[at++]!
      step += (byte & 127) * weight
    }
    byte = bytes[at++]!
    let calls = byte & 127
    for (let weight = 128; byte > 127; weight *= 128) {
      byte = bytes[at++]!
      calls += (byte & 127) * weight
    }
    ms += step
    entryMs[count] = ms
    entryCalls[count] = calls
    count++
  }
  return count
}

const totalOf = (count: number): number => {
  let total = 0
  for (let n = 0; n < count; n++) total += entryCalls[n]!
  return total
}

const written = ({ calls, lengths }: Counts): Latencies => {
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
  for (const [at, ms] of lengths.entries()) {
    push(ms - before)
    push(calls[at]!)
    before = ms
  }
  return Uint8Array.from(bytes)
}
