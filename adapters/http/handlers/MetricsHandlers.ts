/**
 * /metrics: what this process has answered and called, what it holds, and the store's connections. Where the store does
 * not say within a moment how many there are, the rest is told without them.
 */
import { Effect } from "effect"
import { performance } from "node:perf_hooks"
import { CallTally } from "../../../domain/metering/CallTally.ts"
import { giveUpAfter } from "../../../domain/platform/GiveUpAfter.ts"
import { Health } from "../../../domain/platform/Health.ts"
import { Heartbeats } from "../../../domain/platform/Heartbeats.ts"
import { StoreWatch } from "../../../domain/platform/StoreWatch.ts"
import { uncached } from "../api/Access.ts"
import { BOUNDS_S, HttpMetrics, type RouteMeter } from "../pipeline/HttpMetrics.ts"
import { documentRoute } from "../pipeline/Route.ts"
import { type Metric, PROMETHEUS_TYPE, prometheusText, type Sample } from "./Prometheus.ts"

const STORE_WAIT = "500 millis"

export const metricsRoutes = Effect.gen(function* () {
  const http = yield* HttpMetrics
  const calls = yield* CallTally
  const store = yield* StoreWatch
  const heartbeats = yield* Heartbeats
  const { startedAt } = yield* Health

  const read = Effect.gen(function* () {
    const connections = yield* store.connections.pipe(
      giveUpAfter(STORE_WAIT),
      Effect.catchCause(() => Effect.undefined)
    )
    const beats = yield* heartbeats.read
    const text = prometheusText([
      ...httpMetrics(http.read()),
      {
        name: "atb_calls_total",
        help: "Calls that this process settled, by where they came from and how they ended.",
        type: "counter",
        samples: calls
          .read()
          .map(({ calls: value, origin, status }) => ({ labels: { origin, outcome: status }, value }))
      },
      {
        name: "atb_database_up",
        help: "Whether the database told its connections just now.",
        type: "gauge",
        samples: [{ value: connections === undefined ? 0 : 1 }]
      },
      {
        name: "atb_database_connections",
        help: "Connections of all nodes as the database sees them, by state.",
        type: "gauge",
        samples: (connections ?? []).map(({ count, state }) => ({ labels: { state }, value: count }))
      },
      {
        name: "atb_job_last_success_timestamp_seconds",
        help: "When each background job of this node last came through.",
        type: "gauge",
        samples: beats.map(({ job, lastMs }) => ({ labels: { job }, value: lastMs / 1_000 }))
      },
      ...processMetrics(startedAt.epochMilliseconds)
    ])
    return { status: 200, headers: { "content-type": PROMETHEUS_TYPE }, body: text }
  })

  return [documentRoute("/metrics", uncached, read, "Figures of this process, for Prometheus")]
})

const httpMetrics = (meters: ReadonlyArray<RouteMeter>): ReadonlyArray<Metric> => [
  {
    name: "atb_http_requests_total",
    help: "Requests answered, by route and status class.",
    type: "counter",
    samples: meters.flatMap((meter) =>
      meter
        .answers()
        .map(({ count, statusClass }) => ({ labels: { ...labelsOf(meter), class: statusClass }, value: count }))
    )
  },
  {
    name: "atb_http_request_duration_seconds",
    help: "How long a request took, by route.",
    type: "histogram",
    samples: meters.flatMap(latencySamples)
  }
]

const labelsOf = ({ method, route }: RouteMeter) => ({ method, route })

const latencySamples = (meter: RouteMeter): ReadonlyArray<Sample> => {
  const labels = labelsOf(meter)
  const { count, cumulative, sumSeconds } = meter.latency()
  return [
    ...cumulative.map((value, n) => ({ suffix: "_bucket", labels: { ...labels, le: String(BOUNDS_S[n]) }, value })),
    { suffix: "_bucket", labels: { ...labels, le: "+Inf" }, value: count },
    { suffix: "_sum", labels, value: sumSeconds },
    { suffix: "_count", labels, value: count }
  ]
}

/** By the names that Prometheus' own client libraries give them. */
const processMetrics = (startedAtMs: number): ReadonlyArray<Metric> => {
  const { heapTotal, heapUsed, rss } = process.memoryUsage()
  const { system, user } = process.cpuUsage()
  const loop = performance.eventLoopUtilization()
  const one = (name: string, help: string, type: "counter" | "gauge", value: number): Metric => ({
    name,
    help,
    type,
    samples: [{ value }]
  })
  return [
    one("process_cpu_user_seconds_total", "Time on the processor for this program.", "counter", user / 1e6),
    one("process_cpu_system_seconds_total", "Time on the processor for the system.", "counter", system / 1e6),
    one("process_resident_memory_bytes", "Memory in use.", "gauge", rss),
    one("process_start_time_seconds", "When the service started.", "gauge", startedAtMs / 1_000),
    one("nodejs_heap_size_total_bytes", "The heap.", "gauge", heapTotal),
    one("nodejs_heap_size_used_bytes", "What of the heap is in use.", "gauge", heapUsed),
    one("nodejs_eventloop_active_seconds_total", "Time that the event loop was busy.", "counter", loop.active / 1_000),
    one("nodejs_eventloop_idle_seconds_total", "Time that the event loop waited.", "counter", loop.idle / 1_000)
  ]
}
