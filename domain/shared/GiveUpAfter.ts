/**
 * A time limit that applies even if the interrupted effect does not end, such as a query to a silent database.
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
