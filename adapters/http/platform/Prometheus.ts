/**
 * Metrics in the Prometheus text format. Label values come from the code alone.
 */
export interface Sample {
  readonly suffix?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly value: number
}

export interface Metric {
  readonly name: string
  readonly help: string
  readonly type: "counter" | "gauge" | "histogram"
  readonly samples: ReadonlyArray<Sample>
}

/** Gauges of a reading; without samples where there is none. */
export const gaugesOf =
  <A extends object>(reading: A | undefined) =>
  (name: string, help: string, field: keyof A): Metric => ({
    name,
    help,
    type: "gauge",
    samples: reading === undefined ? [] : [{ value: Number(reading[field]) }]
  })

export const PROMETHEUS_TYPE = "text/plain; version=0.0.4; charset=utf-8"

export const prometheusText = (metrics: ReadonlyArray<Metric>): string =>
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
