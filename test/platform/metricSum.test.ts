/**
 * The metrics of several processes as one reading: a scrape of a node with workers counts all of them.
 */
import { assert, it } from "@effect/vitest"
import { countersOf, type Metric, sumOf } from "../../adapters/http/pipeline/MetricSum.ts"

const counter = (a: number, b?: number): Metric => ({
  name: "calls_total",
  help: "Calls.",
  type: "counter",
  samples: [
    { labels: { outcome: "success" }, value: a },
    ...(b === undefined ? [] : [{ labels: { outcome: "error" }, value: b }])
  ]
})

const gauge = (value: number, across?: "min"): Metric => ({
  name: across === undefined ? "memory_bytes" : "late_from",
  help: "A gauge.",
  type: "gauge",
  ...(across === undefined ? {} : { across }),
  samples: [{ value }]
})

it("adds counters up, and takes the gauge that an alert must see", () => {
  const read = sumOf([
    [counter(3), gauge(10), gauge(50, "min")],
    [counter(4, 1), gauge(30), gauge(40, "min")]
  ])
  assert.deepStrictEqual(read, [counter(7, 1), gauge(30), gauge(40, "min")])
})

it("adds buckets of a histogram up by their bounds", () => {
  const histogram = (value: number): Metric => ({
    name: "seconds",
    help: "Durations.",
    type: "histogram",
    samples: [
      { suffix: "_bucket", labels: { le: "1" }, value },
      { suffix: "_bucket", labels: { le: "+Inf" }, value: value + 1 },
      { suffix: "_sum", labels: {}, value }
    ]
  })
  const read = sumOf([[histogram(1)], [histogram(2)]])
  assert.deepStrictEqual(
    read[0]!.samples.map(({ value }) => value),
    [3, 5, 3]
  )
})

it("keeps the counters of a process that has ended, and none of its gauges", () => {
  const ended = countersOf([counter(5), gauge(10)])
  assert.deepStrictEqual(sumOf([[counter(1), gauge(7)], ended]), [counter(6), gauge(7)])
})
