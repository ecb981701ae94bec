/**
 * One load for all who ask for the same thing at the same time. It goes on while anybody waits for it, and is given up
 * when the last of them has gone away.
 */
import { type Clock, type Context, Effect, Fiber } from "effect"
import { monotonicMs } from "./Monotonic.ts"

export interface SharedLoads<A> {
  /**
   * The outcome of the load that is under way for the key, or of this one, which begins then. `onLoaded` hears of it unless
   * anything was forgotten meanwhile: it may have been this.
   */
  join<E>(key: string, load: Effect.Effect<A, E>, onLoaded: (value: A, beganMs: number) => void): Effect.Effect<A, E>
  /** Who asks from now on is not content with what was begun before. */
  forget(key: string): void
  forgetAll(): void
}

/** Who comes later than this after a load began does not wait for it: it may be stuck. */
const SHARED_MS = 5_000

interface Load<A, E> {
  readonly fiber: Fiber.Fiber<A, E>
  readonly beganMs: number
  waiting: number
}

export const sharedLoads = <A>(clock: Clock.Clock): SharedLoads<A> => {
  const underWay = new Map<string, Load<A, unknown>>()
  let forgotten = 0

  const end = (key: string, load: Load<A, unknown>): void => {
    if (underWay.get(key) === load) underWay.delete(key)
  }

  /** In one step and in a fiber of its own: who began it may go away while others wait. */
  const begin = <E>(
    key: string,
    effect: Effect.Effect<A, E>,
    onLoaded: (value: A, beganMs: number) => void,
    context: Context.Context<never>
  ): Load<A, E> => {
    const beganMs = monotonicMs(clock)
    const forgottenBefore = forgotten
    const fiber = Effect.runForkWith(context)(effect)
    const load: Load<A, E> = { fiber, beganMs, waiting: 0 }
    underWay.set(key, load)
    fiber.addObserver((exit) => {
      end(key, load)
      if (exit._tag === "Success" && forgotten === forgottenBefore) onLoaded(exit.value, beganMs)
    })
    return load
  }

  const wait = <E>(key: string, load: Load<A, E>): Effect.Effect<A, E> => {
    load.waiting++
    return Effect.onInterrupt(Fiber.join(load.fiber), () =>
      Effect.suspend(() => {
        if (--load.waiting > 0) return Effect.void
        end(key, load)
        return Fiber.interrupt(load.fiber)
      })
    )
  }

  return {
    join: <E>(key: string, effect: Effect.Effect<A, E>, onLoaded: (value: A, beganMs: number) => void) =>
      Effect.withFiber((fiber) => {
        const load = underWay.get(key) as Load<A, E> | undefined
        const isShared = load !== undefined && monotonicMs(clock) - load.beganMs < SHARED_MS
        return wait(key, isShared ? load : begin(key, effect, onLoaded, fiber.context))
      }),
    forget: (key) => {
      forgotten++
      underWay.delete(key)
    },
    forgetAll: () => {
      forgotten++
      underWay.clear()
    }
  }
}
