/**
 * The dashboard and the alerts match the service: /metrics prints every metric and label that they name, and
 * docs/operations.md documents every alert and every metric.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { parse } from "yaml"
import { expecting } from "../support/market/Market.ts"
import { fine, providing } from "../support/metering/Provider.ts"
import { aFundedConsumer, anOffer, buy, postgresMarket } from "../support/metering/Shop.ts"
import { METRICS_TOKEN } from "../support/market/ServiceConfig.ts"
import { LIVE } from "../support/market/ServiceUnderTest.ts"

const OPERATIONS = join(import.meta.dirname, "../../docs/operations")
const words = readFileSync(`${OPERATIONS}.md`, "utf8")

interface Rule {
  readonly alert: string
  readonly expr: string
  readonly for?: string
  readonly labels: { readonly severity: string }
  readonly annotations: { readonly summary: string }
}

interface Panel {
  readonly id: number
  readonly type: string
  readonly title: string
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number }
  readonly targets?: ReadonlyArray<{ readonly expr: string; readonly legendFormat: string }>
}

const alerts = parse(readFileSync(`${OPERATIONS}/alerts.yml`, "utf8")) as {
  readonly groups: ReadonlyArray<{ readonly name: string; readonly rules: ReadonlyArray<Rule> }>
}
const rules = alerts.groups.flatMap((group) => group.rules)

const dashboard = JSON.parse(readFileSync(`${OPERATIONS}/grafana.json`, "utf8")) as {
  readonly panels: ReadonlyArray<Panel>
  readonly templating: { readonly list: ReadonlyArray<{ readonly name: string; readonly query: unknown }> }
}
const targets = dashboard.panels.flatMap((panel) => panel.targets ?? [])

/** Metrics of Prometheus itself. */
/** Of Prometheus, and of a read replica, which this service has not: `test/nodes/readReplica.test.ts` reads them. */
const OWN_METRICS = new Set(["up", "atb_read_replica_up"])
const OWN_LABELS = ["job", "instance", "le"]
const OWN_WORDS = new Set(
  (
    "sum count min max by absent rate increase changes time topk histogram_quantile min_over_time vector or and " +
    "label_values"
  ).split(" ")
)

interface Named {
  readonly metric: string
  readonly matchers: ReadonlyArray<{ readonly label: string; readonly operator: string; readonly value: string }>
}

/** Names with their labels in braces; grouping labels and ranges are removed first. */
const metricsIn = (expr: string): ReadonlyArray<Named> => {
  const bare = expr.replaceAll(/\[[^\]]*\]/gu, "").replaceAll(/\bby \([^)]*\)/gu, "")
  return [...bare.matchAll(/(?<![\w$"])(?<name>[a-z_][\w:]*)(?:\{(?<inside>[^}]*)\})?/gu)].flatMap(
    ({ 0: whole, groups, index }) => {
      const { inside = "", name = "" } = groups!
      const isQuoted = (bare.slice(0, index).match(/"/gu) ?? []).length % 2 === 1
      const isLabel = /\{[^}]*$/u.test(bare.slice(0, index))
      if (isQuoted || isLabel || OWN_WORDS.has(name) || whole === "") return []
      const matchers = [...inside.matchAll(/(?<label>\w+)(?<operator>=~|!~|!=|=)"(?<value>[^"]*)"/gu)].map(
        (match) => match.groups as unknown as Named["matchers"][number]
      )
      return [{ metric: name, matchers }]
    }
  )
}

const groupingsIn = (expr: string): ReadonlyArray<string> =>
  [...expr.matchAll(/\bby \((?<labels>[^)]*)\)/gu)].flatMap(({ groups }) =>
    groups!["labels"]!.split(",").map((one) => one.trim())
  )

const expressions: ReadonlyArray<readonly [where: string, expr: string]> = [
  ...rules.map(({ alert, expr }) => [alert, expr] as const),
  ...dashboard.panels.flatMap(({ targets: all = [], title }) => all.map(({ expr }) => [title, expr] as const)),
  [
    "the node's choice",
    String((dashboard.templating.list[1]!.query as { readonly query: string }).query).replace(/, instance\)/u, ")")
  ]
]

/** By metric, every value of every label that was printed. */
type Printed = ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<string>>>

const printedIn = (text: string): Printed => {
  const printed = new Map<string, Map<string, Set<string>>>()
  for (const line of text.split("\n")) {
    const { labels = "", name } = /^(?<name>[a-z_]+)(?:\{(?<labels>.*)\})? /u.exec(line)?.groups ?? {}
    if (name === undefined) continue
    const known = printed.get(name) ?? new Map<string, Set<string>>()
    printed.set(name, known)
    for (const { groups } of labels.matchAll(/(?<label>\w+)="(?<value>[^"]*)"/gu)) {
      known.set(groups!["label"]!, (known.get(groups!["label"]!) ?? new Set()).add(groups!["value"]!))
    }
  }
  return printed
}

/** The faults of an expression, in words. */
const faultsOf = (expr: string, printed: Printed): ReadonlyArray<string> => {
  const named = metricsIn(expr)
  const faults = named.length === 0 ? ["names no metric"] : []
  for (const [open, close] of ["()", "{}", "[]"]) {
    if (expr.split(open!).length !== expr.split(close!).length) faults.push(`${open}${close} do not match`)
  }
  const labels = new Set(OWN_LABELS)
  for (const { matchers, metric } of named) {
    if (OWN_METRICS.has(metric)) continue
    const known = printed.get(metric)
    if (known === undefined) faults.push(`there is no metric ${metric}`)
    for (const label of known?.keys() ?? []) labels.add(label)
    for (const { label, operator, value } of matchers) {
      if (OWN_LABELS.includes(label)) continue
      const values = known?.get(label)
      if (values === undefined) faults.push(`${metric} has no label ${label}`)
      const wanted = operator.includes("~") ? value.split("|") : [value]
      for (const one of wanted) {
        if (values !== undefined && !values.has(one)) faults.push(`${metric} never has ${label}="${one}"`)
      }
    }
  }
  for (const label of groupingsIn(expr)) if (!labels.has(label)) faults.push(`nothing there has a label ${label}`)
  return faults
}

const METRICS = "/metrics"

/** Only PostgreSQL has connections. */
it.layer(postgresMarket(), LIVE)("docs/operations", (it) => {
  const scraped = Effect.gen(function* () {
    const server = yield* providing(fine)
    const buyer = yield* aFundedConsumer()
    assert.strictEqual((yield* buy(buyer, yield* anOffer(server.url))).status, 200)
    assert.strictEqual((yield* buy(buyer, yield* anOffer("http://127.0.0.1:1/mcp"))).status, 502)
    return (yield* expecting(200, { path: METRICS, key: METRICS_TOKEN })).text
  })

  it.effect("names metrics, labels and values that /metrics prints", () =>
    Effect.gen(function* () {
      const printed = printedIn(yield* scraped)
      for (const [where, expr] of expressions) assert.deepStrictEqual(faultsOf(expr, printed), [], `${where}: ${expr}`)
    })
  )

  it.effect("explains every metric that /metrics prints", () =>
    Effect.gen(function* () {
      const names = [...(yield* scraped).matchAll(/^# TYPE (?<name>\w+)/gmu)].map(({ groups }) => groups!["name"]!)
      assert.isAbove(names.length, 15)
      assert.deepStrictEqual(
        names.filter((name) => !words.includes(`\`${name}\``)),
        []
      )
    })
  )

  it.effect("is detected where it names what does not exist", () =>
    Effect.gen(function* () {
      const printed = printedIn(yield* scraped)
      for (const [expr, fault] of [
        ["sum(rate(atb_calls_totals[5m]))", "there is no metric atb_calls_totals"],
        [`atb_calls_total{outcomes="success"}`, "atb_calls_total has no label outcomes"],
        [`atb_calls_total{outcome="succeeded"}`, `atb_calls_total never has outcome="succeeded"`],
        [
          `atb_call_step_duration_seconds_sum{step=~"hold|keep"}`,
          `atb_call_step_duration_seconds_sum never has step="keep"`
        ],
        ["sum by (tool) (atb_calls_total)", "nothing there has a label tool"],
        ["sum(atb_calls_total", "() do not match"],
        ["1 > 0", "names no metric"]
      ] as const) {
        assert.include(faultsOf(expr, printed), fault, expr)
      }
    })
  )
})

describe("docs/operations", () => {
  it("has alerts with a severity, a summary and an explanation", () => {
    assert.isAbove(rules.length, 8)
    assert.strictEqual(new Set(rules.map(({ alert }) => alert)).size, rules.length)
    for (const rule of rules) {
      assert.include(["page", "ticket"], rule.labels.severity, rule.alert)
      assert.isAbove(rule.annotations.summary.length, 10, rule.alert)
      assert.match(rule.for ?? "1m", /^\d+[smh]$/u, rule.alert)
      assert.include(words, `\n### ${rule.alert}\n`, `${rule.alert} is not explained`)
    }
    const explained = [...words.matchAll(/^### (?<name>[A-Z][A-Za-z]+)$/gmu)].map(({ groups }) => groups!["name"]!)
    assert.deepStrictEqual(
      explained.filter((name) => !rules.some(({ alert }) => alert === name)),
      []
    )
  })

  it("has a dashboard whose panels are complete and do not overlap", () => {
    assert.isAbove(targets.length, 15)
    assert.strictEqual(new Set(dashboard.panels.map(({ id }) => id)).size, dashboard.panels.length)
    const taken = new Set<string>()
    for (const { gridPos, targets: all = [], title, type } of dashboard.panels) {
      assert.isTrue(type === "row" || all.length > 0, title)
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++) {
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
          assert.isFalse(taken.has(`${x} ${y}`) || x >= 24, `${title} lies on another one`)
          taken.add(`${x} ${y}`)
        }
      }
    }
  })
})
