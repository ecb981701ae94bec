/**
 * Every route that the service answers, documents and pages among them, as the dispatcher gets them.
 */
import { Context, Layer } from "effect"
import { routes } from "../../../adapters/http/HttpService.ts"
import { HttpMetrics } from "../../../adapters/http/pipeline/RequestTelemetry.ts"
import type { Route } from "../../../adapters/http/pipeline/Route.ts"
import { RateLimits } from "../../../adapters/http/pipeline/Stages.ts"
import { Draining, OpenStreams } from "../../../adapters/http/pipeline/WebRequest.ts"

export class DeclaredRoutes extends Context.Service<DeclaredRoutes, ReadonlyArray<Route>>()(
  "agent-tool-billing/test/support/security/DeclaredRoutes"
) {
  static readonly layer = Layer.effect(DeclaredRoutes, routes).pipe(
    Layer.provide([RateLimits.layer, HttpMetrics.layer, OpenStreams.layer, Draining.layer])
  )
}

export const titleOfRoute = ({ method, path, shownPath }: Route): string => `${method} ${shownPath ?? path}`
