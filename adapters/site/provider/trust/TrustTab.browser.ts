/**
 * The provider's trust score and how to improve it, verification and service levels.
 */
import type { ComponentChildren } from "preact"
import { useState } from "preact/hooks"
import { ActionButton } from "../../console/ActionButton.browser.ts"
import { type ConsoleApi, useConsole } from "../../console/ConsoleContext.browser.ts"
import { type Column, DataTable } from "../../console/DataTable.browser.ts"
import { type Field, InputForm, type Values } from "../../console/InputForm.browser.ts"
import { loaded, useResource } from "../../console/Resource.browser.ts"
import { TimeChart } from "../../console/TimeChart.browser.ts"
import {
  Badge,
  type Badges,
  CodeBlock,
  Empty,
  facts,
  figures,
  h,
  Notice,
  section,
  statusBadge,
  TimeText,
  type View
} from "../../console/View.browser.ts"
import { request } from "../../kit/ApiRequest.browser.ts"
import type { Sla, Trust, VerifyResponse } from "../../kit/ApiResponses.browser.ts"
import { count, milliseconds, percent, plural, relativeTime } from "../../kit/Format.browser.ts"

// The trust score by component, each with what would raise it.

const TRUST_BADGES: Badges<Trust["badge"]> = {
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

const ScoreComponents = ({ trust }: { readonly trust: Trust }): View =>
  section(
    "trust",
    trust.details.counted_calls_30d === 0
      ? h("p", null, `Trust score: ${trust.trust_score} of 100. No counted calls yet.`)
      : figures(measured(trust)),
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
    h("details", null, h("summary", null, "How the score is calculated"), facts(Object.entries(trust.scoring_guide)))
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

// Success rate and latency of the provider's tools by day.

const ServiceLevels = ({ sla }: { readonly sla: Sla }): View =>
  sla.total_calls_30d === 0
    ? h(Empty, null, "No calls measured yet. Only developers' calls through the proxy count.")
    : h(
        "div",
        { class: "grid" },
        h(TimeChart, {
          title: "Success rate by day",
          unit: "Success rate",
          kind: "line",
          to: 100,
          points: sla.by_day.map(({ date, uptime: value }) => ({ date, value })),
          format: (value) => `${Math.round(value * 100) / 100}%`
        }),
        h(TimeChart, {
          title: "p95 latency by day",
          unit: "p95 latency",
          kind: "line",
          points: sla.by_day.map(({ date, p95_latency_ms: value }) => ({ date, value })),
          format: milliseconds
        })
      )

// Verification of the provider's email address, domain or source repository.

type Level = Trust["details"]["verification_level"]
type Method = Exclude<Level, "unverified">

const PATH = "/api/v1/market/providers/verify"
const WELL_KNOWN_FILE = "/.well-known/mcp-billing-verify.txt"

interface ProviderVerificationProps {
  readonly level: Level
  /** Called when a verification succeeds. */
  readonly verified: () => void
}

type Verify = (method: Method, values?: Values) => Promise<VerifyResponse>

const verifier =
  (api: ConsoleApi, verified: () => void): Verify =>
  async (method, values = {}) => {
    const given = Object.entries(values).filter(([, value]) => value !== "")
    const response = await api.post<VerifyResponse>(PATH, { level: method, ...Object.fromEntries(given) })
    if (response.verified) verified()
    return response
  }

const ProviderVerification = ({ level, verified }: ProviderVerificationProps): View => {
  const { api } = useConsole()
  const verify = verifier(api, verified)
  return section(
    "verification",
    h("h2", null, "Verification"),
    h(
      "div",
      { class: "grid" },
      h(
        Card,
        {
          title: "Email address",
          text: "Enter the token that is sent to your registered address. 10 points.",
          isVerified: level === "email"
        },
        h(VerifyMailbox, { verify })
      ),
      h(
        Card,
        {
          title: "Domain",
          text: "Publish a token in DNS or in a file on your endpoint's domain. 20 points.",
          isVerified: level === "domain"
        },
        h(VerifyPublished, { verify, method: "domain", field: DOMAIN })
      ),
      h(
        Card,
        {
          title: "Source repository",
          text: "Commit a file to the default branch. 25 points.",
          isVerified: level === "code"
        },
        h(VerifyPublished, { verify, method: "code", field: REPOSITORY })
      )
    )
  )
}

const DOMAIN: Field = {
  name: "domain",
  label: "Domain",
  placeholder: "tools.example.org",
  hint: "Your endpoint's host or a parent domain."
}

const REPOSITORY: Field = {
  name: "repo_url",
  label: "Repository URL",
  placeholder: "https://github.com/ada/tools",
  hint: "On GitHub, GitLab or Bitbucket."
}

interface CardProps {
  readonly title: string
  readonly text: string
  readonly isVerified: boolean
  readonly children?: ComponentChildren
}

const Card = ({ children, isVerified, text, title }: CardProps): View =>
  h(
    "div",
    { class: "card" },
    h("h3", null, title, " ", isVerified ? h(Badge, { label: "Verified", style: "good" }) : undefined),
    h("p", { class: "muted" }, text),
    children
  )

const VerifyMailbox = ({ verify }: { readonly verify: Verify }): ComponentChildren => {
  const [sent, setSent] = useState<VerifyResponse>()
  return [
    h(
      "div",
      { class: "actions" },
      h(ActionButton, {
        label: "Send token",
        style: "plain",
        run: async () => setSent(await verify("email"))
      })
    ),
    h("div", { "aria-live": "polite" }, sent === undefined ? undefined : h(Result, { of: sent })),
    h(InputForm, {
      id: "verify-email",
      submit: "Verify",
      fields: [{ name: "token", label: "Token" }],
      send: async (values) => h(Result, { of: await verify("email", values) })
    })
  ]
}

interface VerifyPublishedProps {
  readonly verify: Verify
  readonly method: Method
  readonly field: Field
}

/** The first request gets a token; once it is published, the same request verifies it. */
const VerifyPublished = ({ field, method, verify }: VerifyPublishedProps): View => {
  const [label, setLabel] = useState("Get token")
  return h(InputForm, {
    id: `verify-${method}`,
    submit: label,
    fields: [field],
    keepsValues: true,
    send: async (values) => {
      const response = await verify(method, values)
      setLabel(response.verified ? "Verify again" : "Verify")
      return h(Result, { of: response })
    }
  })
}

const Result = ({ of: { challenge, message, verified } }: { readonly of: VerifyResponse }): View =>
  h(
    "div",
    null,
    h(Notice, { style: verified ? "good" : "" }, message),
    challenge === null ? undefined : h(Challenge, { challenge })
  )

const Challenge = ({
  challenge
}: {
  readonly challenge: NonNullable<VerifyResponse["challenge"]>
}): ComponentChildren => {
  const { expires_at: at, record_name: name, record_value: value, type } = challenge
  const expiry = h("p", { class: "small muted" }, "Expires ", h(TimeText, { at }), ` (${relativeTime(at)}).`)
  switch (type) {
    case "email":
      return expiry
    case "dns_txt_or_well_known":
      return [
        h("p", null, "Add this TXT record:"),
        h(CodeBlock, { text: `${name}. IN TXT "${value}"` }),
        h("p", null, "Or serve this text at ", h("code", null, WELL_KNOWN_FILE), ":"),
        h(CodeBlock, { text: value }),
        expiry
      ]
    default:
      return [h("p", null, "Commit this file as ", h("code", null, name), ":"), h(CodeBlock, { text: value }), expiry]
  }
}

/** The service caches public responses for about this long. */
const CACHED_MS = 2_500

export const tab = (): ComponentChildren => {
  const { account } = useConsole()
  const path = `/api/v1/market/providers/${account.id}`
  const trust = useResource(() => request<Trust>("GET", `${path}/trust`, { isFresh: true }), [])
  const sla = useResource(() => request<Sla>("GET", `${path}/sla`, { isFresh: true }), [])
  return [
    loaded(trust, (value) => [
      h(ScoreComponents, { trust: value }),
      h(ProviderVerification, {
        level: value.details.verification_level,
        verified: () => setTimeout(() => void trust.reload(), CACHED_MS)
      })
    ]),
    section(
      "service-levels",
      h("h2", null, "Service levels, last 30 days"),
      loaded(sla, (value) => h(ServiceLevels, { sla: value }))
    )
  ]
}
