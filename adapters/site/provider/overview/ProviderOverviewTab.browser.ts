/**
 * The provider's open work, and earnings, calls and payouts at a glance.
 */
import type { ComponentChildren } from "preact"
import { useConsole } from "../../console/ConsoleContext.browser.ts"
import { pathTo } from "../../console/Place.browser.ts"
import { loaded, useResource } from "../../console/Resource.browser.ts"
import { TimeChart } from "../../console/TimeChart.browser.ts"
import { Badge, CodeBlock, figures, h, section, type View } from "../../console/View.browser.ts"
import { curl } from "../../kit/ApiRequest.browser.ts"
import type { ProviderOverview } from "../../kit/ApiResponses.browser.ts"
import { count, money, moneyOfCents, percent } from "../../kit/Format.browser.ts"
import { OpenDisputesNotice } from "../disputes/OpenDisputesNotice.browser.ts"

// The first steps of a new provider.

const isStarted = ({ calls_in_all: calls, listed_tools: tools }: ProviderOverview): boolean => tools > 0 && calls > 0

const GetStarted = (overview: ProviderOverview): View =>
  section(
    "start",
    h("h2", null, "Get started"),
    h(
      "ol",
      { class: "steps" },
      step(
        overview.listed_tools > 0,
        "List a tool",
        h("a", { href: pathTo("tools", "import") }, "Import the tools of your MCP server"),
        ", or ",
        h("a", { href: pathTo("tools", "new") }, "list one by hand"),
        "."
      ),
      step(
        overview.calls_in_all > 0,
        "Receive the first call",
        "Your tools are in the ",
        h("a", { href: "/catalog" }, "catalog"),
        ". To test a call, ",
        h("a", { href: "/developers/register" }, "register as a developer"),
        " and call your tool with that key:",
        h(CodeBlock, {
          text: curl("/api/market/proxy", "$CONSUMER_KEY", {
            tool_name: overview.qualified_name ?? "<your handle>/search",
            input: {}
          })
        })
      ),
      step(
        overview.verification_level !== "unverified",
        "Verify your identity",
        "Verification raises your trust score. ",
        h("a", { href: pathTo("trust") }, "Verify")
      ),
      step(
        overview.payout_account_complete,
        "Set up payouts",
        "See what you earn and how you are paid in ",
        h("a", { href: pathTo("earnings") }, "Earnings and payouts"),
        "."
      )
    )
  )

const step = (isDone: boolean, title: string, ...details: ReadonlyArray<ComponentChildren>): View =>
  h(
    "li",
    { key: title },
    h("strong", null, title),
    " ",
    isDone ? h(Badge, { label: "Done", style: "good" }) : h("div", null, ...details)
  )

export const tab = (): View => {
  const { api } = useConsole()
  const overview = useResource(() => api.get<ProviderOverview>("/api/v1/market/providers/overview"), [])
  return loaded(overview, (found) => [
    isStarted(found) ? undefined : h(GetStarted, found),
    found.calls_in_all === 0
      ? undefined
      : [
          h(OpenDisputesNotice, { open: found.open_disputes, next: found.next_dispute }),
          section("overview", figuresOf(found))
        ]
  ])
}

const figuresOf = ({ usage, ...overview }: ProviderOverview): ComponentChildren => [
  h("h2", null, "Last 30 days"),
  figures([
    ["Net earnings", money(overview.net_earnings_microcents), "after the platform fee"],
    ["Calls", count(usage.total_calls), "including free and failed calls"],
    ["Success rate", usage.total_calls === 0 ? "–" : percent(usage.summary.successful_calls / usage.total_calls)],
    ["Available for payout", moneyOfCents(overview.available_cents), h("a", { href: pathTo("earnings") }, "Payouts")],
    ["Trust score", `${overview.trust_score} of 100`, h("a", { href: pathTo("trust") }, "How to improve it")]
  ]),
  h(TimeChart, {
    title: "Calls by day",
    unit: "Calls",
    points: usage.calls_by_day.map(({ calls: value, date }) => ({ date, value })),
    format: (value) => count(Math.round(value * 10) / 10)
  })
]
