/**
 * The provider's trust score, verification and service levels.
 */
import { request } from "../kit/ApiRequest.browser.ts"
import { chart } from "../kit/Chart.browser.ts"
import { badge, el, empty, facts, figures } from "../kit/Dom.browser.ts"
import { count, milliseconds, percent, plural } from "../kit/Format.browser.ts"
import { type Panel, panel } from "../kit/Panel.browser.ts"
import type { Sla, Trust } from "../kit/ApiResponses.browser.ts"
import { table } from "../kit/Table.browser.ts"
import { verificationCards } from "./ProviderVerification.browser.ts"

const BADGES = {
  unrated: ["Not rated", ""],
  basic: ["Basic", "info"],
  trusted: ["Trusted", "good"],
  verified: ["Verified", "good"]
} as const
const COMPONENTS = [
  ["verification", "Verification"],
  ["uptime", "Uptime"],
  ["latency", "Latency"],
  ["disputes", "Disputes"]
] as const
const COMPONENT_POINTS_MAX = 25
/** The service caches public responses for about this long. */
const CACHED_MS = 2_500

export const readTrust = (providerId: string): Promise<Trust> =>
  request<Trust>("GET", `/api/v1/market/providers/${providerId}/trust`, { isFresh: true })

export const trustPanel = (providerId: string): Panel => {
  const verification = el("div")
  const made = panel("trust", "Trust and SLA", async () => {
    const [trust, sla] = await Promise.all([
      readTrust(providerId),
      request<Sla>("GET", `/api/v1/market/providers/${providerId}/sla`, { isFresh: true })
    ])
    // Reloading the scores must not clear the forms.
    if (verification.childElementCount === 0) {
      verification.append(
        verificationCards(trust.details.verification_level, () => setTimeout(() => void made.reload(), CACHED_MS))
      )
    }
    return [...scoreOf(trust), el("h3", "Verification"), verification, ...slaOf(sla)]
  })
  return made
}

const scoreOf = (trust: Trust): ReadonlyArray<Node> => [
  trust.details.counted_calls_30d === 0
    ? el("p", `Trust score: ${trust.trust_score} of 100. No counted calls yet.`)
    : measured(trust),
  el(
    "p",
    badge(BADGES[trust.badge][0], BADGES[trust.badge][1]),
    trust.improve.badge === null ? undefined : [" ", trust.improve.badge]
  ),
  table(
    "Components of the trust score",
    [
      { name: "Component", cell: ([, name]: (typeof COMPONENTS)[number]) => name },
      { name: "Points of 25", cell: ([component]) => trust.components[component], isNumber: true },
      {
        name: "",
        cell: ([component, name]) =>
          el("meter", {
            min: 0,
            max: COMPONENT_POINTS_MAX,
            value: trust.components[component],
            "aria-label": `${name}, points of ${COMPONENT_POINTS_MAX}`
          })
      },
      { name: "How to improve", cell: ([component]) => trust.improve[component] ?? "–", isLong: true }
    ],
    COMPONENTS
  ),
  el("details", el("summary", "How the score is calculated"), facts(Object.entries(trust.scoring_guide)))
]

const measured = ({ badge: rating, details, trust_score: score }: Trust): HTMLElement =>
  figures([
    ["Trust score", `${score} of 100`, BADGES[rating][0]],
    [
      "Counted calls",
      count(details.counted_calls_30d),
      `30 days, ${plural(details.distinct_consumers_30d, "developer")}`
    ],
    ["Success rate", details.success_rate === null ? "–" : percent(details.success_rate)],
    ["p95 latency", milliseconds(details.p95_latency_ms)]
  ])

const slaOf = (sla: Sla): ReadonlyArray<Node> => {
  const heading = el("h3", "Service levels, last 30 days")
  if (sla.total_calls_30d === 0) {
    return [heading, empty("No calls measured yet. Only developers' calls through the proxy count.")]
  }
  return [
    heading,
    el(
      "div",
      { class: "grid" },
      chart(
        sla.by_day.map((one) => ({ date: one.date, value: one.uptime })),
        {
          title: "Success rate by day",
          unit: "Success rate",
          kind: "line",
          to: 100,
          format: (value) => `${Math.round(value * 100) / 100}%`
        }
      ),
      chart(
        sla.by_day.map((one) => ({ date: one.date, value: one.p95_latency_ms })),
        { title: "p95 latency by day", unit: "p95 latency", kind: "line", format: milliseconds }
      )
    )
  ]
}
