/**
 * Ends the process when a part fails that the service cannot work without.
 */
import { Context, Deferred, Effect, Layer } from "effect"

export class Fatal extends Context.Service<Fatal, Deferred.Deferred<never, { readonly message: string }>>()(
  "agent-tool-billing/src/Fatal"
) {
  static readonly layer = Layer.effect(Fatal, Deferred.make<never, { readonly message: string }>())
}

/** While the layer lives, the first failure of `part` ends the process. */
export const watch = (part: Effect.Effect<never, { readonly message: string }>) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const fatal = yield* Fatal
      yield* part.pipe(
        Effect.catch((error) => Deferred.fail(fatal, error)),
        Effect.forkScoped
      )
    })
  )
