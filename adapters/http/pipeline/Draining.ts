/**
 * A node that is about to stop. It still answers, but a load balancer sends new requests elsewhere.
 */
import { Context, Effect, Layer } from "effect"

export class Draining extends Context.Service<
  Draining,
  {
    readonly begin: Effect.Effect<void>
    readonly isBegun: Effect.Effect<boolean>
  }
>()("agent-tool-billing/adapters/http/Draining") {
  static readonly layer = Layer.sync(Draining, () => {
    let isBegun = false
    return Draining.of({
      begin: Effect.sync(() => void (isBegun = true)),
      isBegun: Effect.sync(() => isBegun)
    })
  })
}
