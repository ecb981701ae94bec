/**
 * Requests by route and status class, and their durations. Labels are routes and status classes of the contract, never text
 * of a client.
 */
import { Context, Layer } from "effect"
import { type Durations, Histogram } from "../../../domain/shared/Histogram.ts"

const CLASSES = ["1xx", "2xx", "3xx", "4xx", "5xx"] as const

export class RouteMeter {
  readonly method: string
  readonly route: string
  /** By status class. */
  readonly #answers = new Float64Array(CLASSES.length)
  readonly #durations = new Histogram()

  constructor(method: string, route: string) {
    this.method = method
    this.route = route
  }

  answered(status: number, ms: number): void {
    const statusClass = Math.min(5, Math.max(1, Math.floor(status / 100))) - 1
    this.#answers[statusClass]! += 1
    this.#durations.took(ms)
  }

  /** Classes with at least one response. */
  answers(): ReadonlyArray<{ readonly statusClass: string; readonly count: number }> {
    return CLASSES.flatMap((statusClass, n) => {
      const count = this.#answers[n]!
      return count === 0 ? [] : [{ statusClass, count }]
    })
  }

  latency(): Durations {
    return this.#durations.read()
  }
}

export class HttpMetrics extends Context.Service<
  HttpMetrics,
  {
    /** One per route, made once. */
    meterOf(method: string, route: string): RouteMeter
    /** For requests without a route. */
    readonly unmatched: RouteMeter
    read(): ReadonlyArray<RouteMeter>
  }
>()("agent-tool-billing/adapters/http/HttpMetrics") {
  static readonly layer = Layer.sync(HttpMetrics, () => {
    const unmatched = new RouteMeter("other", "unmatched")
    const meters = new Map<string, RouteMeter>()
    return HttpMetrics.of({
      meterOf: (method, route) => {
        const key = `${method} ${route}`
        const meter = meters.get(key) ?? new RouteMeter(method, route)
        meters.set(key, meter)
        return meter
      },
      unmatched,
      read: () => [...meters.values(), unmatched].filter((meter) => meter.latency().count > 0)
    })
  })
}
