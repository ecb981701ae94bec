/**
 * Random numbers that a seed repeats (mulberry32), and choices by them.
 */
export interface Chance {
  /** Below 1. */
  next(): number
  /** From 0, below the bound. */
  below(bound: number): number
  /** With this probability in percent. */
  percent(often: number): boolean
  pick<A>(from: ReadonlyArray<A>): A
}

export const chanceOf = (seed: number): Chance => {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  const below = (bound: number) => Math.floor(next() * bound)
  return { next, below, percent: (often) => next() * 100 < often, pick: (from) => from[below(from.length)]! }
}
