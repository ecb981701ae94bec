/**
 * Another time of day for a request, while sockets, pools and sleeps use the machine's time: so the same test runs
 * over PostgreSQL and over memory.
 */
import { Clock, Duration, Effect } from "effect"

export const later = (by: Duration.Input) => shifted(Duration.toMillis(by))
export const earlier = (by: Duration.Input) => shifted(-Duration.toMillis(by))

/** A clock that is fixed at this instant. */
export const when = (iso: string) => telling(() => Date.parse(iso))

/** A clock that advances by this much each time it is read. */
export const slowly = (each: Duration.Input) => {
  let passedMs = 0
  return telling(() => Math.floor(realClock.currentTimeMillisUnsafe() + (passedMs += Duration.toMillis(each))))
}

const realClock = Clock.Clock.defaultValue()

const shifted = (byMs: number) => telling(() => Math.floor(realClock.currentTimeMillisUnsafe() + byMs))

const telling = (nowMs: () => number) => {
  const nowNanos = () => BigInt(nowMs()) * 1_000_000n
  return Effect.provideService(Clock.Clock, {
    currentTimeMillisUnsafe: nowMs,
    currentTimeMillis: Effect.sync(nowMs),
    currentTimeNanosUnsafe: nowNanos,
    currentTimeNanos: Effect.sync(nowNanos),
    monotonicTimeNanosUnsafe: () => realClock.monotonicTimeNanosUnsafe(),
    monotonicTimeNanos: realClock.monotonicTimeNanos,
    sleep: (duration) => realClock.sleep(duration)
  })
}
