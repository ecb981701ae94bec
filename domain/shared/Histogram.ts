/**
 * Counts durations in buckets: a few increments per duration.
 */

/** Upper bounds in seconds, for calls that wait for a provider and for reads from memory. */
export const BOUNDS_S = [0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30] as const

export interface Durations {
  /** Each bucket includes the lower ones. */
  readonly cumulative: ReadonlyArray<number>
  readonly count: number
  readonly sumSeconds: number
}

export class Histogram {
  /** The last bucket has no upper bound. */
  readonly #buckets = new Float64Array(BOUNDS_S.length + 1)
  #sumMs = 0

  took(ms: number): void {
    let bucket = 0
    while (bucket < BOUNDS_S.length && ms > BOUNDS_S[bucket]! * 1_000) bucket++
    this.#buckets[bucket]! += 1
    this.#sumMs += ms
  }

  read(): Durations {
    let count = 0
    const cumulative = [...this.#buckets].map((inBucket) => (count += inBucket))
    return { cumulative: cumulative.slice(0, BOUNDS_S.length), count, sumSeconds: this.#sumMs / 1_000 }
  }
}
