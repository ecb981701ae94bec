/**
 * Takes a share of all work, and of what callers ask for a few a second: a flood of either is not traced any more than a
 * busy hour is.
 */
import { Effect, Layer, Random } from "effect"
import { TraceSampler } from "../../domain/shared/TraceSampler.ts"

export interface SamplerOptions {
  /** Of all work: 0 takes none, 1 takes all up to the bound. */
  readonly ratio: number
  /** Of all work, of this node. */
  readonly perSecondMax?: number
  /** Of what callers ask for, of this node. */
  readonly askedPerSecondMax?: number
}

/** A trace of a call is half a dozen spans of about a kilobyte: some hundreds of kilobytes a second at the most. */
export const TRACES_PER_SECOND_MAX = 100
export const ASKED_PER_SECOND_MAX = 5

export const makeSampler = (
  { askedPerSecondMax = ASKED_PER_SECOND_MAX, perSecondMax = TRACES_PER_SECOND_MAX, ratio }: SamplerOptions,
  random: () => number,
  nowMs: () => number
): TraceSampler => {
  const share = bucket(perSecondMax, nowMs)
  const wishes = bucket(askedPerSecondMax, nowMs)
  return {
    takes: (asked) => (ratio > 0 && random() < ratio && share()) || (asked && wishes())
  }
}

export const layer = (options: SamplerOptions) =>
  Layer.effect(
    TraceSampler,
    Effect.map(Random.Random, (random) =>
      makeSampler(
        options,
        () => random.nextDoubleUnsafe(),
        () => performance.now()
      )
    )
  )

/** Full it gives as many at once as it gains in a second. */
const bucket = (perSecond: number, nowMs: () => number): (() => boolean) => {
  let level = perSecond
  let filledMs = nowMs()
  return () => {
    const now = nowMs()
    level = Math.min(perSecond, level + ((now - filledMs) / 1_000) * perSecond)
    filledMs = now
    if (level < 1) return false
    level--
    return true
  }
}
