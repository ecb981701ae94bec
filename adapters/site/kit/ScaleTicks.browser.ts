/**
 * Ticks of a chart's scale. They are whole numbers of the unit, so that no label is rounded, and the last one is not below the
 * highest value, so that every value can be read against a label.
 */
const INTERVALS = 5
const STEPS = [1, 2, 5, 10] as const

export const scaleTicks = (from: number, highest: number): ReadonlyArray<number> => {
  const least = Math.max(1, (highest - from) / INTERVALS)
  const power = 10 ** Math.floor(Math.log10(least))
  const step = power * STEPS.find((one) => one * power >= least)!
  const intervals = Math.max(1, Math.ceil((highest - from) / step))
  return Array.from({ length: intervals + 1 }, (_, index) => from + index * step)
}
