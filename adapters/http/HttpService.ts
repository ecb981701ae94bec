/**
 * The whole HTTP service as one function from requests to responses. Servers, tests and embedders call it.
 */
import { Effect, Layer } from "effect"
import { Pages } from "./Pages.ts"
import { Dispatcher, make } from "./pipeline/Dispatcher.ts"
import { HttpMetrics } from "./pipeline/HttpMetrics.ts"
import { RateLimits } from "./pipeline/RateLimits.ts"
import { routes } from "./Routes.ts"

export const layer = Layer.effect(
  Dispatcher,
  Effect.flatMap(Effect.all([routes, Pages]), ([all, pages]) => make(all, pages.notFound))
).pipe(Layer.provide([RateLimits.layer, HttpMetrics.layer]))
