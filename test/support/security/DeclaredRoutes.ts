/**
 * Every route that the service answers, documents and pages among them, as the dispatcher gets them.
 */
import { Context, Layer } from "effect"
import { HttpMetrics } from "../../../adapters/http/pipeline/HttpMetrics.ts"
import { Draining } from "../../../adapters/http/pipeline/Draining.ts"
import { OpenStreams } from "../../../adapters/http/pipeline/OpenStreams.ts"
import { RateLimits } from "../../../adapters/http/pipeline/RateLimits.ts"
import type { Route } from "../../../adapters/http/pipeline/Route.ts"
import { routes } from "../../../adapters/http/HttpService.ts"

export class DeclaredRoutes extends Context.Service<DeclaredRoutes, ReadonlyArray<Route>>()(
  "agent-tool-billing/test/support/security/DeclaredRoutes"
) {
  static readonly layer = Layer.effect(DeclaredRoutes, routes).pipe(
    Layer.provide([RateLimits.layer, HttpMetrics.layer, OpenStreams.layer, Draining.layer])
  )
}

export const titleOfRoute = ({ method, path, shownPath }: Route): string => `${method} ${shownPath ?? path}`
