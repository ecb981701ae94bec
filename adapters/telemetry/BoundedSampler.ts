/**
 * Samples a share of all work, plus a few a second that callers request. Both are bounded, so a flood of requests does not
 * create more traces.
 */
import { Clock, Effect, Layer, Random } from "effect"
import { monotonicMs } from "../../domain/shared/Time.ts"
import { TraceSampler } from "../../domain/shared/TraceSampler.ts"

export interface SamplerOptions {
  /** Share of all work: 0 for none, 1 for all up to the bound. */
  readonly ratio: number
  readonly perSecondMax?: number
  /** Of the work whose caller requests a trace. */
  readonly askedPerSecondMax?: number
}

/** A trace of a call is half a dozen spans of about a kilobyte: at most a few hundred kilobytes a second. */
export const TRACES_PER_SECOND_MAX = 100
export const ASKED_PER_SECOND_MAX = 5

export const makeSampler = (
  { askedPerSecondMax = ASKED_PER_SECOND_MAX, perSecondMax = TRACES_PER_SECOND_MAX, ratio }: SamplerOptions,
  random: () => number,
  nowMs: () => number
): TraceSampler => {
  const share = bucket(perSecondMax, nowMs)
  const requested = bucket(askedPerSecondMax, nowMs)
  return {
    takes: (asked) => (ratio > 0 && random() < ratio && share()) || (asked && requested())
  }
}

export const samplerOf = Effect.fnUntraced(function* (options: SamplerOptions) {
  const random = yield* Random.Random
  const clock = yield* Clock.Clock
  return makeSampler(
    options,
    () => random.nextDoubleUnsafe(),
    () => monotonicMs(clock)
  )
})

export const layer = (options: SamplerOptions) => Layer.effect(TraceSampler, samplerOf(options))

/** A token bucket whose capacity is one second's refill. */
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
