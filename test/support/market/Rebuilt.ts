/**
 * A service again, on the same ports except one, which a test replaces.
 */
import { Context, Effect, Layer } from "effect"

export const rebuilt = <I, S, E, R, P, PortService>(
  service: Context.Key<I, S>,
  layer: Layer.Layer<I, E, R>,
  port: Context.Key<P, PortService>,
  replaced: PortService
) =>
  Effect.map(Layer.build(Layer.fresh(layer).pipe(Layer.provide(Layer.succeed(port, replaced)))), Context.get(service))
