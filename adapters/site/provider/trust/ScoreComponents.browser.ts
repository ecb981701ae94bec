/**
 * The trust score by component, each with what would raise it.
 */
import { type Badges, statusBadge } from "../../console/Badge.browser.ts"
import { type Column, DataTable } from "../../console/DataTable.browser.ts"
import { Facts, Figures } from "../../console/Figures.browser.ts"
import { h, type View } from "../../console/View.browser.ts"
import type { Trust } from "../../kit/ApiResponses.browser.ts"
import { count, milliseconds, percent, plural } from "../../kit/Format.browser.ts"

export const TRUST_BADGES: Badges<Trust["badge"]> = {
  unrated: ["Not rated", ""],
  basic: ["Basic", "info"],
  trusted: ["Trusted", "good"],
  verified: ["Verified", "good"]
}

const COMPONENTS = [
  ["verification", "Verification"],
  ["uptime", "Uptime"],
  ["latency", "Latency"],
  ["disputes", "Disputes"]
] as const
const COMPONENT_POINTS_MAX = 25

export const ScoreComponents = ({ trust }: { readonly trust: Trust }): View =>
  h(
    "section",
    { id: "trust" },
    trust.details.counted_calls_30d === 0
      ? h("p", null, `Trust score: ${trust.trust_score} of 100. No counted calls yet.`)
      : h(Figures, { all: measured(trust) }),
    h(
      "p",
      null,
      statusBadge(TRUST_BADGES, trust.badge),
      trust.improve.badge === null ? undefined : ` ${trust.improve.badge}`
    ),
    h(DataTable<(typeof COMPONENTS)[number]>, {
      caption: "Components of the trust score",
      columns: columnsOf(trust),
      rows: COMPONENTS,
      keyOf: ([component]) => component
    }),
    h(
      "details",
      null,
      h("summary", null, "How the score is calculated"),
      h(Facts, { all: Object.entries(trust.scoring_guide) })
    )
  )

const measured = ({ badge, details, trust_score: score }: Trust) =>
  [
    ["Trust score", `${score} of 100`, TRUST_BADGES[badge][0]],
    [
      "Counted calls",
      count(details.counted_calls_30d),
      `30 days, ${plural(details.distinct_consumers_30d, "developer")}`
    ],
    ["Success rate", details.success_rate === null ? "–" : percent(details.success_rate)],
    ["p95 latency", milliseconds(details.p95_latency_ms)]
  ] as const

const columnsOf = (trust: Trust): ReadonlyArray<Column<(typeof COMPONENTS)[number]>> => [
  { name: "Component", cell: ([, name]) => name },
  { name: "Points of 25", cell: ([component]) => trust.components[component], isNumber: true },
  {
    name: "Share",
    cell: ([component, name]) =>
      h("meter", {
        min: 0,
        max: COMPONENT_POINTS_MAX,
        value: trust.components[component],
        "aria-label": `${name}, points of ${COMPONENT_POINTS_MAX}`
      })
  },
  { name: "How to improve", cell: ([component]) => trust.improve[component] ?? "–", isLong: true }
]
