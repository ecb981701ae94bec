/**
 * The service's own measurements: durations in buckets, which requests and jobs are traced, and what was exported.
 */
import { Context, Effect, References, Tracer } from "effect"

/** Upper bounds in seconds, for calls that wait for a provider and for reads from memory. */
export const BOUNDS_S = [0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30] as const

/** The distribution of durations, by the upper bounds of `BOUNDS_S`. */
export interface Durations {
  /** Each bucket includes the lower ones. */
  readonly cumulative: ReadonlyArray<number>
  readonly count: number
  readonly sumSeconds: number
}

export class Histogram {
  /** The last bucket has no upper bound. */
  readonly #buckets = new Float64Array(BOUNDS_S.length + 1)
  #sumMs = 0

  took(ms: number): void {
    let bucket = 0
    while (bucket < BOUNDS_S.length && ms > BOUNDS_S[bucket]! * 1_000) bucket++
    this.#buckets[bucket]! += 1
    this.#sumMs += ms
  }

  read(): Durations {
    let count = 0
    const cumulative = [...this.#buckets].map((inBucket) => (count += inBucket))
    return { cumulative: cumulative.slice(0, BOUNDS_S.length), count, sumSeconds: this.#sumMs / 1_000 }
  }
}

// Decides what is traced: nothing unless a sampler is provided. Tracing is expensive, so it is switched on for one request
// or job and stays off for others.

export interface TraceSampler {
  /** `requested`: the caller requests a trace. The sampler bounds how many requests it grants. */
  takes(requested: boolean): boolean
}

/** The sampler of a service. Default: nothing is traced. */
export const TraceSampler = Context.Reference<TraceSampler>("agent-tool-billing/domain/shared/TraceSampler", {
  defaultValue: () => ({ takes: () => false })
})

/** A trace of its own for this piece of work, whatever the fiber around it is traced as. */
export const traced = <A, E, R>(
  work: Effect.Effect<A, E, R>,
  name: string,
  options: Tracer.SpanOptionsNoTrace = {}
): Effect.Effect<A, E, Exclude<R, Tracer.ParentSpan>> =>
  Effect.withSpan(work, name, { root: options.parent === undefined, sampled: true, ...options }).pipe(
    Effect.withTracerEnabled(true)
  )

/**
 * A step of a piece of work: a span where that is traced, and nothing at all where it is not. Effect's own switch leaves
 * 10 µs for each disabled span.
 */
export const step = <A, E, R>(work: Effect.Effect<A, E, R>, name: string): Effect.Effect<A, E, R> =>
  Effect.withFiber((fiber) =>
    fiber.getRef(References.TracerEnabled) && Context.getOrUndefined(fiber.context, Tracer.ParentSpan) !== undefined
      ? (Effect.withSpan(work, name, { captureStackTrace: false }) as Effect.Effect<A, E, R>)
      : work
  )

// Counts the batches of traces and logs for the collector since the service started, by outcome.

export type Signal = "traces" | "logs"

/** `dropped` by this process: too much is in flight already. */
export type Outcome = "sent" | "failed" | "dropped"

export interface ExportTally {
  count(signal: Signal, outcome: Outcome): void
  read(): ReadonlyArray<{ readonly signal: Signal; readonly outcome: Outcome; readonly batches: number }>
}

const SIGNALS: ReadonlyArray<Signal> = ["traces", "logs"]
const OUTCOMES: ReadonlyArray<Outcome> = ["sent", "failed", "dropped"]

const nothing = (): Record<Outcome, number> => ({ sent: 0, failed: 0, dropped: 0 })

export const makeExportTally = (): ExportTally => {
  const counts = { traces: nothing(), logs: nothing() }
  return {
    count: (signal, outcome) => {
      counts[signal][outcome]++
    },
    read: () =>
      SIGNALS.flatMap((signal) => OUTCOMES.map((outcome) => ({ signal, outcome, batches: counts[signal][outcome] })))
  }
}

/**
 * The traces and log lines that a process of the service alone has exported and lost. Default: nothing is counted, and
 * requests have no access log.
 */
export interface ProcessTelemetry {
  readonly exports: ExportTally
  /** Log lines since the start that the reader of the log did not take. */
  readonly lines: { dropped: number }
  /** Decides which requests are logged. Undefined: none, as in an app that embeds the service and has a log of its own. */
  readonly accessLog: TraceSampler | undefined
}

export const ProcessTelemetry = Context.Reference<ProcessTelemetry>(
  "agent-tool-billing/domain/shared/ProcessTelemetry",
  {
    defaultValue: () => ({
      exports: { ...makeExportTally(), count: () => {} },
      lines: { dropped: 0 },
      accessLog: undefined
    })
  }
)
