/**
 * Random numbers from a seed (mulberry32): the same seed, the same numbers, on any machine.
 */
export interface Random {
  /** A whole number from 0 on, below this one. */
  below(limit: number): number
  /** True so many times in a hundred. */
  percent(likely: number): boolean
  pick<A>(from: ReadonlyArray<A>): A
}

export const randomFrom = (seed: number): Random => {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (limit: number): number => Math.floor(next() * limit)
  return {
    below,
    percent: (likely) => below(100) < likely,
    pick: (from) => from[below(from.length)]!
  }
}

/** One of several, some more often than others. */
export const weighted = <A>(random: Random, choices: ReadonlyArray<readonly [weight: number, value: A]>): A => {
  let left = random.below(choices.reduce((sum, [weight]) => sum + weight, 0))
  for (const [weight, value] of choices) {
    if (left < weight) return value
    left -= weight
  }
  throw new Error("There is nothing to choose from")
}
