/**
 * A time limit that holds even where what is given up takes its time to be interrupted, as a silent database does.
 */
import { type Cause, type Duration, Effect, Fiber } from "effect"

export const giveUpAfter =
  (limit: Duration.Input) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | Cause.TimeoutError, R> =>
    Effect.flatMap(Effect.forkDetach(effect), (fiber) =>
      Fiber.join(fiber).pipe(
        Effect.timeout(limit),
        Effect.onError(() => Effect.forkDetach(Fiber.interrupt(fiber)))
      )
    )
