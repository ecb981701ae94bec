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

/** Sleeps take a hundredth of their time while this is true. */
export const hurried = (isHurried: () => boolean) =>
  Effect.provideService(Clock.Clock, {
    ...clockTelling(() => realClock.currentTimeMillisUnsafe()),
    sleep: (duration) => realClock.sleep(isHurried() ? Duration.millis(Duration.toMillis(duration) / 100) : duration)
  })

const realClock = Clock.Clock.defaultValue()

const shifted = (byMs: number) => telling(() => Math.floor(realClock.currentTimeMillisUnsafe() + byMs))

const telling = (nowMs: () => number) => Effect.provideService(Clock.Clock, clockTelling(nowMs))

const clockTelling = (nowMs: () => number): Clock.Clock => {
  const nowNanos = () => BigInt(nowMs()) * 1_000_000n
  return {
    currentTimeMillisUnsafe: nowMs,
    currentTimeMillis: Effect.sync(nowMs),
    currentTimeNanosUnsafe: nowNanos,
    currentTimeNanos: Effect.sync(nowNanos),
    monotonicTimeNanosUnsafe: () => realClock.monotonicTimeNanosUnsafe(),
    monotonicTimeNanos: realClock.monotonicTimeNanos,
    sleep: (duration) => realClock.sleep(duration)
  }
}
