/**
 * Solvency, what waits for the operator, and the health of the service.
 */
import type { ComponentChildren } from "preact"
import { type ConsoleApi, useConsole } from "../../console/ConsoleContext.browser.ts"
import { DataTable } from "../../console/DataTable.browser.ts"
import { pathTo } from "../../console/Place.browser.ts"
import { loaded, useResource } from "../../console/Resource.browser.ts"
import { Badge, figures, h, Notice, section, TimeText, type View } from "../../console/View.browser.ts"
import { ApiError } from "../../kit/ApiRequest.browser.ts"
import { count, milliseconds, money } from "../../kit/Format.browser.ts"
import { type Health, OPERATOR, type Solvency, type Summary } from "../lists/OperatorLists.browser.ts"

const REFRESH_MS = 30_000

/** Without a database there is no summary, and the health check says why. */
type Overview = Summary | { readonly health: Health; readonly problem: string }

export const tab = (): View => {
  const { api } = useConsole()
  const overview = useResource(() => readOverview(api), [], { refreshMs: () => REFRESH_MS })
  return loaded(overview, (found) =>
    "problem" in found
      ? [h(Notice, { style: "bad" }, found.problem), h(Checks, found.health)]
      : [
          section("solvency", h("h2", null, "Solvency"), solvencyOf(found.solvency)),
          h(Waiting, found.waiting),
          h(Checks, found.health)
        ]
  )
}

const readOverview = async (api: ConsoleApi): Promise<Overview> => {
  try {
    return await api.get<Summary>(`${OPERATOR}/summary`)
  } catch (error) {
    if (!(error instanceof ApiError) || error.status < 500) throw error
    return { health: await healthFrom(api.get<Health>("/api/v1/health")), problem: error.message }
  }
}

const solvencyOf = (found: Solvency): ComponentChildren => [
  verdictOf(found),
  figures([
    ["Spendable", money(found.spendable_microcents), "balances, earnings and platform funds"],
    [
      "Received less sent",
      money(found.received_microcents - found.sent_microcents),
      `${money(found.received_microcents)} received, ${money(found.sent_microcents)} sent`
    ],
    ["Platform funds", money(found.platform_funds_microcents), "fees and deposits"],
    ["Unbacked", money(found.unbacked_microcents), "0 unless the service has a fault"],
    ["Shortfall", money(found.shortfall_microcents), "recorded losses to cover"],
    [
      "Claims",
      money(found.claims_on_providers_microcents + found.claims_on_platform_microcents),
      h("a", { href: pathTo("losses") }, "Losses and claims")
    ]
  ]),
  h("p", { class: "small muted" }, "As of ", h(TimeText, { at: found.timestamp }), ".")
]

const verdictOf = ({ shortfall_microcents: shortfall, unbacked_microcents: unbacked }: Solvency): View => {
  if (unbacked > 0) {
    return h(
      Notice,
      { style: "bad" },
      `${money(unbacked)} can be spent or withdrawn and were never received. Stop payouts and run `,
      h("code", null, "npm run cli -- audit"),
      "."
    )
  }
  return shortfall > 0
    ? h(Notice, { style: "bad" }, `Losses of ${money(shortfall)} are not covered. Deposit funds and cover them.`)
    : h(Notice, { style: "good" }, "All spendable money is backed by received money.")
}

const Waiting = (waiting: Summary["waiting"]): View =>
  section(
    "waiting",
    h("h2", null, "Waiting"),
    figures([
      [
        "Disputes to decide",
        h("a", { href: pathTo("disputes") }, count(waiting.disputes)),
        deadlineOf(waiting.next_decision_at)
      ],
      ["Frozen accounts", h("a", { href: `${pathTo("accounts")}?kind=frozen` }, count(waiting.frozen_consumers))],
      ["Payouts in progress", h("a", { href: pathTo("payouts") }, count(waiting.open_payouts))],
      [
        "Failed payouts",
        h("a", { href: `${pathTo("payouts")}?state=failed` }, count(waiting.failed_payouts)),
        "including retried ones"
      ]
    ])
  )

const deadlineOf = (at: string | null): ComponentChildren =>
  at === null ? "none" : ["first due ", h(TimeText, { at })]

const Checks = ({ checks }: Health): View =>
  section(
    "health",
    h("h2", null, "Health"),
    h(DataTable<readonly [string, Health["checks"][string]]>, {
      caption: "Checks of the node that answers",
      columns: [
        { name: "Part", cell: ([name]) => name.replaceAll("_", " ") },
        {
          name: "Status",
          cell: ([, { status }]) => h(Badge, { label: status, style: status === "ok" ? "good" : "bad" })
        },
        { name: "Latency", cell: ([, check]) => milliseconds(check.latency_ms), isNumber: true },
        { name: "Message", cell: ([, { message }]) => message ?? "", isLong: true }
      ],
      rows: Object.entries(checks),
      keyOf: ([name]) => name
    })
  )

/** A service that is down answers 503 with the same body. */
const healthFrom = (response: Promise<Health>): Promise<Health> =>
  response.catch((error: unknown) => {
    if (error instanceof ApiError && "checks" in error.body) return error.body as unknown as Health
    throw error
  })
