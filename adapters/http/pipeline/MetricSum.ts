/**
 * Metrics as values, and the one reading of a node that has several workers.
 */
import type { Effect } from "effect"

export interface Sample {
  readonly suffix?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly value: number
}

export interface Metric {
  readonly name: string
  readonly help: string
  readonly type: "counter" | "gauge" | "histogram"
  /** A gauge of several workers is the highest of theirs, so that an alert on one worker fires; or the lowest. */
  readonly across?: "min"
  readonly samples: ReadonlyArray<Sample>
}

export type Reading = ReadonlyArray<Metric>

/** Given how to read this process, adds to its reading those of the node's other workers. */
export type WithOthers = (own: Effect.Effect<Reading>) => (reading: Reading) => Effect.Effect<Reading>

/** Counters and histograms are added up. Metrics and samples keep the order of the first reading that has them. */
export const sumOf = (readings: ReadonlyArray<Reading>): Reading => {
  const metrics = new Map<string, { readonly metric: Metric; readonly samples: Map<string, Sample> }>()
  for (const metric of readings.flat()) {
    const known = metrics.get(metric.name) ?? { metric, samples: new Map<string, Sample>() }
    metrics.set(metric.name, known)
    for (const sample of metric.samples) {
      const key = `${sample.suffix ?? ""} ${JSON.stringify(sample.labels ?? {})}`
      const before = known.samples.get(key)
      known.samples.set(key, before === undefined ? sample : { ...sample, value: joined(metric, before, sample) })
    }
  }
  return [...metrics.values()].map(({ metric, samples }) => ({ ...metric, samples: [...samples.values()] }))
}

const joined = ({ across, type }: Metric, one: Sample, other: Sample): number => {
  if (type !== "gauge") return one.value + other.value
  return across === "min" ? Math.min(one.value, other.value) : Math.max(one.value, other.value)
}

/** What stays true of a worker that has ended, so that no counter of the node decreases. */
export const countersOf = (reading: Reading): Reading => reading.filter(({ type }) => type !== "gauge")
