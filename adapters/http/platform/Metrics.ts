/**
 * /metrics: requests, calls and state of this process, or of all workers of the node, and the connections and backlog of the store. If the store does not
 * respond in time, its metrics are left out.
 */
import { Effect, Redacted } from "effect"
import { performance } from "node:perf_hooks"
import { type SolvencyReading, SolvencyWatch } from "../../../domain/earnings/SolvencyWatch.ts"
import { CallTally } from "../../../domain/metering/CallsInFlight.ts"
import { Loads } from "../../../domain/payments/Loads.ts"
import { Health, Heartbeats, type StoreBacklog, StoreWatch } from "../../../domain/platform/Health.ts"
import { ReadReplica } from "../../../domain/platform/ReadReplica.ts"
import { isSameText } from "../../../domain/shared/Cryptography.ts"
import { giveUpAfter } from "../../../domain/shared/Deadlines.ts"
import { BOUNDS_S, type Durations, ProcessTelemetry } from "../../../domain/shared/Telemetry.ts"
import { CorrectedClock, monotonicNowMs } from "../../../domain/shared/Time.ts"
import { uncached } from "../contract/Endpoint.ts"
import { MetricsRejected } from "../pipeline/Failures.ts"
import { HttpMetrics, type RouteMeter } from "../pipeline/RequestTelemetry.ts"
import { documentRoute, type Route } from "../pipeline/Route.ts"
import { HttpSettings, type MetricsAccess } from "../pipeline/Stages.ts"
import { bearer } from "../pipeline/WebRequest.ts"
import type { Metric, Reading, Sample } from "../pipeline/MetricSum.ts"

export const admit = (access: MetricsAccess, given: string): Effect.Effect<void, MetricsRejected> => {
  if (access === "open") return Effect.void
  if (access === "closed") return Effect.fail(new MetricsRejected({ hasToken: false }))
  return isSameText(given, Redacted.value(access)) ? Effect.void : Effect.fail(new MetricsRejected({ hasToken: true }))
}

// Metrics in the Prometheus text format. Label values come from the code alone.

/** Gauges of a reading; without samples where there is none. */
const gaugesOf =
  <A extends object>(reading: A | undefined) =>
  (name: string, help: string, field: keyof A): Metric => ({
    name,
    help,
    type: "gauge",
    samples: reading === undefined ? [] : [{ value: Number(reading[field]) }]
  })

const PROMETHEUS_TYPE = "text/plain; version=0.0.4; charset=utf-8"

const prometheusText = (metrics: Reading): string =>
  metrics
    .map(({ help, name, samples, type }) =>
      [
        `# HELP ${name} ${help}`,
        `# TYPE ${name} ${type}`,
        ...samples.map(({ labels = {}, suffix = "", value }) => `${name}${suffix}${labelText(labels)} ${value}`),
        ""
      ].join("\n")
    )
    .join("")

const labelText = (labels: Readonly<Record<string, string>>): string => {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${value.replaceAll(/["\\\n]/gu, "_")}"`)
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`
}

const STORE_WAIT = "500 millis"

export const metricsRoutes = Effect.gen(function* () {
  const { metrics: access, metricsOfWorkers = () => Effect.succeed } = yield* HttpSettings
  const http = yield* HttpMetrics
  const calls = yield* CallTally
  const store = yield* StoreWatch
  const heartbeats = yield* Heartbeats
  const { exports, lines } = yield* ProcessTelemetry
  const solvency = yield* SolvencyWatch
  const loads = yield* Loads
  const { startedAt } = yield* Health
  const clock = yield* CorrectedClock
  const replica = yield* ReadReplica

  const asked = Effect.gen(function* () {
    const startedMs = yield* monotonicNowMs
    const [connections, backlog] = yield* Effect.all([store.connections, store.backlog])
    return { connections, backlog, answerSeconds: ((yield* monotonicNowMs) - startedMs) / 1_000 }
  }).pipe(
    giveUpAfter(STORE_WAIT),
    Effect.catchCause(() => Effect.undefined)
  )

  const readingOf = Effect.fnUntraced(function* (known: Effect.Success<typeof asked>): Effect.fn.Return<Reading> {
    const beats = yield* heartbeats.read
    return [
      ...httpMetrics(http.read()),
      {
        name: "atb_calls_total",
        help: "Calls that this process settled, by origin and outcome.",
        type: "counter",
        samples: calls
          .read()
          .map(({ calls: value, origin, status }) => ({ labels: { origin, outcome: status }, value }))
      },
      one(
        "atb_calls_left_total",
        "Forwarded calls whose caller disconnected before they ended.",
        "counter",
        calls.leftCount
      ),
      {
        name: "atb_call_step_duration_seconds",
        help: "Duration of the steps of proxied calls: hold, forward, settle.",
        type: "histogram",
        samples: calls.steps().flatMap(({ durations, step }) => durationSamples({ step }, durations))
      },
      one(
        "atb_payments_mismatched_total",
        "Payments of another amount or currency than ordered. They were not credited.",
        "counter",
        loads.mismatched()
      ),
      one("atb_database_up", "Whether the database responds.", "gauge", known === undefined ? 0 : 1),
      gaugesOf(known)(
        "atb_database_answer_seconds",
        "Response time of the database, including the wait for a connection.",
        "answerSeconds"
      ),
      {
        name: "atb_database_connections",
        help: "Connections of all nodes as the database sees them, by state.",
        type: "gauge",
        samples: (known?.connections ?? []).map(({ count, state }) => ({ labels: { state }, value: count }))
      },
      one(
        "atb_clock_skew_seconds",
        "The clock of this node minus the clock of the database.",
        "gauge",
        (clock?.skewMs() ?? 0) / 1_000
      ),
      ...replicaMetrics(replica),
      ...backlogMetrics(known?.backlog),
      ...solvencyMetrics(yield* solvency.last),
      // Prometheus sets a label `job` itself and would rename this one.
      {
        name: "atb_job_late_from_timestamp_seconds",
        help: "Time from which each background job of this node counts as late.",
        type: "gauge",
        across: "min",
        samples: beats.map(({ job, lateFromMs }) => ({ labels: { task: job }, value: lateFromMs / 1_000 }))
      },
      {
        name: "atb_telemetry_batches_total",
        help: "Batches of traces and logs for the collector, by outcome.",
        type: "counter",
        samples: exports.read().map(({ batches, outcome, signal }) => ({ labels: { signal, outcome }, value: batches }))
      },
      one(
        "atb_log_lines_dropped_total",
        "Log lines that this process dropped, because the reader of its output was too slow or gone.",
        "counter",
        lines.dropped
      ),
      {
        name: "atb_job_last_success_timestamp_seconds",
        help: "Time of the last success of each background job of this node.",
        type: "gauge",
        samples: beats.map(({ job, lastMs }) => ({ labels: { task: job }, value: lastMs / 1_000 }))
      },
      ...processMetrics(startedAt.epochMilliseconds)
    ]
  })

  const withOthers = metricsOfWorkers(readingOf(undefined))
  const read = Effect.map(Effect.flatMap(Effect.flatMap(asked, readingOf), withOthers), (reading) => ({
    status: 200,
    headers: { "content-type": PROMETHEUS_TYPE },
    body: prometheusText(reading)
  }))

  const metrics: Route = {
    ...documentRoute("/metrics", uncached, read, "Metrics of this process for Prometheus"),
    answer: ({ request }) => Effect.andThen(admit(access, bearer(request)), read)
  }
  return [metrics]
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
    help: "Duration of requests, by route.",
    type: "histogram",
    samples: meters.flatMap(latencySamples)
  }
]

const labelsOf = ({ method, route }: RouteMeter) => ({ method, route })

const latencySamples = (meter: RouteMeter): ReadonlyArray<Sample> => durationSamples(labelsOf(meter), meter.latency())

const durationSamples = (
  labels: Readonly<Record<string, string>>,
  { count, cumulative, sumSeconds }: Durations
): ReadonlyArray<Sample> => [
  ...cumulative.map((value, n) => ({ suffix: "_bucket", labels: { ...labels, le: String(BOUNDS_S[n]) }, value })),
  { suffix: "_bucket", labels: { ...labels, le: "+Inf" }, value: count },
  { suffix: "_sum", labels, value: sumSeconds },
  { suffix: "_count", labels, value: count }
]

/** There are no samples unless a read replica is configured. */
const replicaMetrics = (replica: ReadReplica | undefined): ReadonlyArray<Metric> => {
  const known = gaugesOf(replica && { inUse: replica.isFresh(), lagSeconds: replica.lagMs() / 1_000 })
  return [
    {
      ...known("atb_read_replica_up", "Whether reads of reports and the catalog go to the read replica.", "inUse"),
      across: "min"
    },
    known("atb_read_replica_lag_seconds", "How far the read replica is behind the primary at most.", "lagSeconds"),
    {
      name: "atb_read_replica_reads_total",
      help: "Reads that the read replica may answer, by the server that did.",
      type: "counter",
      samples:
        replica === undefined
          ? []
          : (["replica", "primary"] as const).map((server) => ({ labels: { server }, value: replica.reads(server) }))
    }
  ]
}

/** The same on every node. Empty where the store did not respond. */
const backlogMetrics = (backlog: StoreBacklog | undefined): ReadonlyArray<Metric> => {
  const known = gaugesOf(backlog)
  return [
    known("atb_calls_open", "Calls with a hold that are not settled, of all nodes.", "openCalls"),
    known("atb_calls_overdue", "Calls that should have been settled by now, of all nodes.", "overdueCalls"),
    known("atb_held_microcents", "Holds of calls that are not settled, of all nodes.", "heldMicrocents"),
    known("atb_log_backlog_receipts", "Receipts that are not in the log yet, of all nodes.", "unloggedReceipts"),
    known("atb_lost_calls", "Forwarded calls that the database lost, until they are reviewed.", "lostCalls")
  ]
}

const solvencyMetrics = (last: SolvencyReading | undefined): ReadonlyArray<Metric> => {
  const gauge = gaugesOf(last)
  const claim = gaugesOf(last?.claims)
  return [
    gauge(
      "atb_unbacked_microcents",
      "Funds that can be spent or withdrawn without having been received. Any value but 0 is a fault.",
      "unbackedMicrocents"
    ),
    gauge("atb_shortfall_microcents", "Recorded losses that the operator has not covered.", "shortfallMicrocents"),
    gauge("atb_platform_funds_microcents", "Fees that were not withdrawn, and deposits.", "platformFundsMicrocents"),
    claim("atb_claims_on_providers_microcents", "Debt of providers to consumers for refunds.", "byProvidersMicrocents"),
    claim("atb_advanced_microcents", "Advances of the platform for refunds that were not repaid.", "advancedMicrocents")
  ]
}

/** The names are those of Prometheus' own client libraries. */
const processMetrics = (startedAtMs: number): ReadonlyArray<Metric> => {
  const { heapTotal, heapUsed, rss } = process.memoryUsage()
  const { system, user } = process.cpuUsage()
  const loop = performance.eventLoopUtilization()
  return [
    one("process_cpu_user_seconds_total", "CPU time of this process in user mode.", "counter", user / 1e6),
    one("process_cpu_system_seconds_total", "CPU time of this process in kernel mode.", "counter", system / 1e6),
    one("process_resident_memory_bytes", "Memory in use.", "gauge", rss),
    one("process_start_time_seconds", "Start time of the service.", "gauge", startedAtMs / 1_000),
    one("nodejs_heap_size_total_bytes", "Size of the heap.", "gauge", heapTotal),
    one("nodejs_heap_size_used_bytes", "Used size of the heap.", "gauge", heapUsed),
    one("nodejs_eventloop_active_seconds_total", "Time that the event loop was busy.", "counter", loop.active / 1_000),
    one("nodejs_eventloop_idle_seconds_total", "Time that the event loop waited.", "counter", loop.idle / 1_000)
  ]
}

const one = (name: string, help: string, type: "counter" | "gauge", value: number): Metric => ({
  name,
  help,
  type,
  samples: [{ value }]
})
