/**
 * How the provider stands with those who choose: its score and what would raise it, its days, and the proofs it can give.
 */
import type { Sla, Trust } from "../kit/Answers.browser.ts"
import { ask } from "../kit/Api.browser.ts"
import { chart } from "../kit/Chart.browser.ts"
import { badge, el, empty, figures } from "../kit/Dom.browser.ts"
import { count, milliseconds, percent, plural } from "../kit/Figures.browser.ts"
import { type Panel, panel } from "../kit/Panel.browser.ts"
import { proofs } from "./ProviderVerification.browser.ts"
import { table } from "../kit/Table.browser.ts"

const BADGES = { unrated: "", basic: "info", trusted: "good", verified: "good" } as const
const PARTS = [
  ["verification", "Verification"],
  ["uptime", "Uptime"],
  ["latency", "Latency"],
  ["disputes", "Disputes"]
] as const

export const standing = (providerId: string): Panel => {
  const place = el("div", {})
  const made = panel("standing", "Trust and SLA", async () => {
    const of = (what: string) => `/api/v1/market/providers/${providerId}/${what}`
    const [trust, sla] = await Promise.all([
      ask<Trust>("GET", of("trust"), { isFresh: true }),
      ask<Sla>("GET", of("sla"), { isFresh: true })
    ])
    // The forms stay as they are while the figures come again.
    if (place.childElementCount === 0) place.append(proofs(trust.details.verification_level, followed))
    return [...scoreOf(trust), el("h3", {}, "Prove who you are"), place, ...daysOf(sla)]
  })
  /** The service keeps public answers for a moment. */
  const followed = () => setTimeout(() => void made.reload(), KEPT_MS)
  return made
}

const KEPT_MS = 2_500

const measured = ({ badge: rated, details, trust_score: score }: Trust): HTMLElement =>
  figures([
    ["Trust score", `${score} of 100`, rated === "unrated" ? "not rated yet" : rated],
    [
      "Counted calls in 30 days",
      count(details.counted_calls_30d),
      `of ${plural(details.distinct_consumers_30d, "paying consumer")}`
    ],
    ["Succeeded", details.success_rate === null ? "–" : percent(details.success_rate)],
    ["95 of 100 within", milliseconds(details.p95_latency_ms)]
  ])

const scoreOf = (trust: Trust): ReadonlyArray<Node> => [
  trust.details.counted_calls_30d === 0
    ? el("p", {}, `A score of ${trust.trust_score} of 100, before anything is measured.`)
    : measured(trust),
  el(
    "p",
    {},
    badge(trust.badge, BADGES[trust.badge]),
    trust.improve.badge === null ? undefined : [" ", trust.improve.badge]
  ),
  table(
    "What the score is made of",
    [
      { name: "Part", cell: ([, name]: (typeof PARTS)[number]) => name },
      { name: "Of 25", cell: ([part]) => trust.components[part], isNumber: true },
      {
        name: "",
        cell: ([part, name]) =>
          el("meter", { min: 0, max: 25, value: trust.components[part], "aria-label": `${name}, of 25` })
      },
      { name: "What raises it", cell: ([part]) => trust.improve[part] ?? "Nothing: it is at its best.", isLong: true }
    ],
    PARTS
  ),
  el(
    "details",
    {},
    el("summary", {}, "The whole formula"),
    el(
      "dl",
      { class: "facts" },
      Object.entries(trust.scoring_guide).map(([name, words]) => [el("dt", {}, name), el("dd", {}, words)])
    )
  )
]

const daysOf = (sla: Sla): ReadonlyArray<Node> => {
  const heading = el("h3", {}, "Thirty days of calls through the proxy")
  if (sla.total_calls_30d === 0) {
    return [
      heading,
      empty(
        "Nothing is measured yet. Calls of developers through the proxy make these figures; your own test calls do not."
      )
    ]
  }
  return [
    heading,
    el(
      "div",
      { class: "grid" },
      chart(
        sla.by_day.map((one) => ({ date: one.date, value: one.uptime })),
        { title: "Uptime by day", unit: "Succeeded", kind: "line", to: 100, format: (value) => `${round(value)} %` }
      ),
      chart(
        sla.by_day.map((one) => ({ date: one.date, value: one.p95_latency_ms })),
        { title: "Latency by day", unit: "95 of 100 within", kind: "line", format: (value) => milliseconds(value) }
      )
    )
  ]
}

const round = (value: number): string => String(Math.round(value * 100) / 100)
