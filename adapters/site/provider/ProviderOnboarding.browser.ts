/**
 * The first steps of a provider, until its tools are listed and called: what is done, and what comes next.
 */
import type { CatalogPage, Connection, Earnings, Trust } from "../kit/Answers.browser.ts"
import { ask } from "../kit/Api.browser.ts"
import { badge, type Child, el } from "../kit/Dom.browser.ts"
import { command } from "../kit/KeyShown.browser.ts"
import { type Panel, panel } from "../kit/Panel.browser.ts"
import { SUMMARY } from "./ProviderEarnings.browser.ts"
import { keyOf } from "../kit/Session.browser.ts"

interface Step {
  readonly isDone: boolean
  readonly title: string
  readonly how: ReadonlyArray<Child>
}

/** `told`: whether there was a call yet, and whether there is nothing left to be led to. */
export const start = (providerId: string, told: (hasCalls: boolean, isDone: boolean) => void): Panel => {
  return panel("start", "First steps", async () => {
    const key = keyOf("provider")
    const [tools, summary, trust, connection] = await Promise.all([
      ask<CatalogPage>("GET", `/api/market/catalog?provider_id=${providerId}&limit=1`, { isFresh: true }),
      ask<Earnings>("POST", SUMMARY, { key, body: { period: "all" } }),
      ask<Trust>("GET", `/api/v1/market/providers/${providerId}/trust`, { isFresh: true }),
      ask<Connection>("GET", "/api/market/connect", { key })
    ])
    told(summary.total_calls > 0, tools.total > 0 && summary.total_calls > 0)
    const steps: ReadonlyArray<Step> = [
      {
        isDone: tools.total > 0,
        title: "List a tool, and name its price",
        how: [
          "What your MCP server offers, what a call costs, and how many are free. ",
          to("tools", "List a tool"),
          "."
        ]
      },
      {
        isDone: summary.total_calls > 0,
        title: "Have it called",
        how: [
          "Developers find it in the ",
          el("a", { href: "/catalog" }, "catalogue"),
          ". To see a call arrive yourself, ",
          el("a", { href: "/developers/register" }, "register as a developer"),
          " and call it with that key:",
          command(callOf(tools.tools[0]?.qualified_name ?? "<your handle>/search"))
        ]
      },
      {
        isDone: trust.details.verification_level !== "unverified",
        title: "Prove who you are",
        how: [
          "Your mailbox, your domain, your repository: each raises your trust score. ",
          to("standing", "Prove it"),
          "."
        ]
      },
      {
        isDone: connection.connected,
        title: "Get ready to be paid",
        how: ["The payment processor wants to know who you are, once. ", to("payouts", "Set up payouts"), "."]
      }
    ]
    return [el("ol", { class: "steps" }, steps.map(stepOf))]
  })
}

const to = (id: string, label: string): HTMLElement => el("a", { href: `#${id}` }, label)

const stepOf = ({ how, isDone, title }: Step): HTMLElement =>
  el(
    "li",
    {},
    el("strong", {}, title),
    " ",
    isDone ? badge("Done", "good") : undefined,
    isDone ? undefined : el("div", {}, ...how)
  )

const callOf = (tool: string): string =>
  `curl ${location.origin}/api/market/proxy -H "Authorization: Bearer $CONSUMER_KEY" -H 'content-type: application/json' ` +
  `-d '${JSON.stringify({ tool_name: tool, input: {} })}'`
