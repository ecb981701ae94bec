/**
 * How many requests each route answered, how, and how long they took. A request costs a few increments; labels are routes
 * and status classes of the contract, so nothing that a caller sends becomes one.
 */
import { Context, Layer } from "effect"

/** Upper bounds in seconds, for calls that wait for a provider as for reads from memory. */
export const BOUNDS_S = [0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30] as const
const CLASSES = ["1xx", "2xx", "3xx", "4xx", "5xx"] as const

export class RouteMeter {
  readonly method: string
  readonly route: string
  /** By status class. */
  readonly #answers = new Float64Array(CLASSES.length)
  /** The last one: above every bound. */
  readonly #buckets = new Float64Array(BOUNDS_S.length + 1)
  #sumMs = 0

  constructor(method: string, route: string) {
    this.method = method
    this.route = route
  }

  answered(status: number, ms: number): void {
    const statusClass = Math.min(5, Math.max(1, Math.floor(status / 100))) - 1
    this.#answers[statusClass]! += 1
    let bucket = 0
    while (bucket < BOUNDS_S.length && ms > BOUNDS_S[bucket]! * 1_000) bucket++
    this.#buckets[bucket]! += 1
    this.#sumMs += ms
  }

  /** Classes that were ever answered. */
  answers(): ReadonlyArray<{ readonly statusClass: string; readonly count: number }> {
    return CLASSES.flatMap((statusClass, n) => {
      const count = this.#answers[n]!
      return count === 0 ? [] : [{ statusClass, count }]
    })
  }

  /** As Prometheus wants them: each bucket holds those below it, too. */
  latency(): {
    readonly cumulative: ReadonlyArray<number>
    readonly count: number
    readonly sumSeconds: number
  } {
    let count = 0
    const cumulative = [...this.#buckets].map((inBucket) => (count += inBucket))
    return { cumulative: cumulative.slice(0, BOUNDS_S.length), count, sumSeconds: this.#sumMs / 1_000 }
  }
}

export class HttpMetrics extends Context.Service<
  HttpMetrics,
  {
    /** One for each route, made once. */
    meterOf(method: string, route: string): RouteMeter
    /** For whatever has no route. */
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
