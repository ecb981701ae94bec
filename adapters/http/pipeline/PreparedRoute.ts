/**
 * A route that asks other systems before its unit of work begins, such as a provider's server.
 */
import { Effect } from "effect"
import type { HandlerError } from "./HandlerErrors.ts"
import {
  type AnyEndpoint,
  type ErrorOf,
  type Input,
  type Route,
  route,
  type RouteOptions,
  type TypeOf
} from "./Route.ts"

/** As `route`. The handler gets the result of `prepare`. */
export const preparedRoute = <const E extends AnyEndpoint, P>(
  endpoint: E,
  prepare: (input: Input<E>) => Effect.Effect<P, ErrorOf<E>>,
  handler: (
    input: Input<E>,
    prepared: P
  ) => Generator<Effect.Effect<unknown, ErrorOf<E>>, TypeOf<E["~Success"]>, never>,
  options?: RouteOptions
): Route => ({
  ...route(endpoint, (input) => Effect.gen(() => handler(input, input.prepared as P)), options),
  prepare: (input) => prepare(input as Input<E>) as Effect.Effect<P, HandlerError>
})
