/**
 * Solvency, what waits for the operator, and the health of the service.
 */
import { type ComponentChildren, Fragment } from "preact"
import { Badge, Notice } from "../../console/Badge.browser.ts"
import { useConsole } from "../../console/ConsoleContext.browser.ts"
import { DataTable } from "../../console/DataTable.browser.ts"
import { Figures } from "../../console/Figures.browser.ts"
import { pathTo } from "../../console/Place.browser.ts"
import { Loaded, useResource } from "../../console/Resource.browser.ts"
import { TimeText } from "../../console/TimeText.browser.ts"
import { h, type View } from "../../console/View.browser.ts"
import { ApiError } from "../../kit/ApiRequest.browser.ts"
import { count, milliseconds, money } from "../../kit/Format.browser.ts"
import { OPERATOR } from "../OperatorLists.browser.ts"
import type { Consumers, Disputes, Health, Payouts, Solvency } from "../OperatorResponses.browser.ts"

const REFRESH_MS = 30_000
const LIVE = { refreshMs: () => REFRESH_MS }

export const tab = (): View => {
  const { api } = useConsole()
  const solvency = useResource(() => api.get<Solvency>(`${OPERATOR}/solvency`), [], LIVE)
  return h(
    Fragment,
    null,
    h(
      "section",
      { id: "solvency" },
      h("h2", null, "Solvency"),
      h(Loaded<Solvency>, { of: solvency, show: solvencyOf })
    ),
    h(Waiting, null),
    h(Checks, null)
  )
}

const solvencyOf = (found: Solvency): View =>
  h(
    Fragment,
    null,
    verdictOf(found),
    h(Figures, {
      all: [
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
      ]
    }),
    h("p", { class: "small muted" }, "As of ", h(TimeText, { at: found.timestamp }), ".")
  )

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

interface Totals {
  readonly disputes: Disputes
  readonly frozen: number
  readonly payouts: number
}

const Waiting = (): View => {
  const { api } = useConsole()
  const totals = useResource(
    async (): Promise<Totals> => {
      const [disputes, frozen, requested, transferring] = await Promise.all([
        api.get<Disputes>(`${OPERATOR}/disputes`, { limit: 1 }),
        api.get<Consumers>(`${OPERATOR}/consumers`, { limit: 1, frozen: "true" }),
        api.get<Payouts>(`${OPERATOR}/payouts`, { limit: 1, state: "requested" }),
        api.get<Payouts>(`${OPERATOR}/payouts`, { limit: 1, state: "transferring" })
      ])
      return { disputes, frozen: frozen.total, payouts: requested.total + transferring.total }
    },
    [],
    LIVE
  )
  return h(
    "section",
    { id: "waiting" },
    h("h2", null, "Waiting"),
    h(Loaded<Totals>, {
      of: totals,
      show: ({ disputes, frozen, payouts }) =>
        h(Figures, {
          all: [
            [
              "Disputes to decide",
              h("a", { href: pathTo("disputes") }, count(disputes.total)),
              deadlineOf(disputes.disputes[0]?.decide_by ?? null)
            ],
            ["Frozen accounts", h("a", { href: `${pathTo("accounts")}?kind=frozen` }, count(frozen))],
            ["Payouts in progress", h("a", { href: pathTo("payouts") }, count(payouts))]
          ]
        })
    })
  )
}

const deadlineOf = (at: string | null): ComponentChildren =>
  at === null ? "none" : ["first due ", h(TimeText, { at })]

const Checks = (): View => {
  const { api } = useConsole()
  const health = useResource(() => healthFrom(api.get<Health>("/api/v1/health")), [], LIVE)
  return h(
    "section",
    { id: "health" },
    h("h2", null, "Health"),
    h(Loaded<Health>, {
      of: health,
      show: ({ checks }) =>
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
    })
  )
}

/** A service that is down answers 503 with the same body. */
const healthFrom = (response: Promise<Health>): Promise<Health> =>
  response.catch((error: unknown) => {
    if (error instanceof ApiError && "checks" in error.body) return error.body as unknown as Health
    throw error
  })
