/**
 * A wall clock that can be set in either direction. Elapsed time and timers are not affected.
 */
import { Clock, Context, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"

const NANOS_PER_MS = 1_000_000n

export class Calendar extends Context.Service<Calendar, { setBy(ms: number): void }>()(
  "agent-tool-billing/test/simulation/Calendar"
) {
  /** With the test clock that it stands on. */
  static readonly layer = Layer.effectContext(
    Effect.map(Clock.Clock, (clock) => {
      let set = 0
      const millis = () => clock.currentTimeMillisUnsafe() + set
      const nanos = () => clock.currentTimeNanosUnsafe() + BigInt(set) * NANOS_PER_MS
      // The test's own ways to let time pass stay with it.
      const onTheWall: Clock.Clock = {
        ...clock,
        currentTimeMillisUnsafe: millis,
        currentTimeMillis: Effect.sync(millis),
        currentTimeNanosUnsafe: nanos,
        currentTimeNanos: Effect.sync(nanos)
      }
      const calendar = Calendar.of({
        setBy: (ms) => {
          set += ms
        }
      })
      return Context.make(Calendar, calendar).pipe(Context.add(Clock.Clock, onTheWall))
    })
  ).pipe(Layer.provideMerge(TestClock.layer()))
}
