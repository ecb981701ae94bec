/**
 * The provider's money: earnings, payouts and statements.
 */
import type { ComponentChildren } from "preact"
import { useMemo, useState } from "preact/hooks"
import { ActionButton } from "../../console/ActionButton.browser.ts"
import { announce } from "../../console/Announcements.browser.ts"
import { useConsole } from "../../console/ConsoleContext.browser.ts"
import { type Column, DataTable } from "../../console/DataTable.browser.ts"
import { DocumentList } from "../../console/DocumentList.browser.ts"
import { openModal } from "../../console/Modal.browser.ts"
import { loaded, useResource } from "../../console/Resource.browser.ts"
import { PeriodChoice, TimeChart, usePeriod } from "../../console/TimeChart.browser.ts"
import {
  type Badges,
  Empty,
  facts,
  type Figure,
  figures,
  h,
  Notice,
  section,
  statusBadge,
  TimeText,
  type View
} from "../../console/View.browser.ts"
import { errorMessage, idempotentRequest } from "../../kit/ApiRequest.browser.ts"
import type { Connection, ConnectResponse, Earnings, PayoutResponse, Payouts } from "../../kit/ApiResponses.browser.ts"
import { count, day, money, moneyOfCents } from "../../kit/Format.browser.ts"

const PAYOUTS_PATH = "/api/market/payouts"
const CONNECT_PATH = "/api/market/connect"

type ToolEarnings = Earnings["by_tool"][number]

const PERIODS = [
  ["", "30 days"],
  ["7d", "7 days"],
  ["90d", "90 days"],
  ["all", "All time"]
] as const

const EarningsSummary = (): View => {
  const { api } = useConsole()
  const period = usePeriod(PERIODS)
  const earnings = useResource(
    () => api.post<Earnings>("/api/v1/market/billing/provider-summary", { period: period === "" ? "30d" : period }),
    [period]
  )
  return section(
    "earnings",
    h(
      "div",
      { class: "toolbar" },
      h("h2", null, "Earnings"),
      h(PeriodChoice, { id: "earnings-period", periods: PERIODS })
    ),
    loaded(earnings, (summary) =>
      summary.total_calls === 0
        ? h(
            Empty,
            null,
            "No calls in this period. Your net earnings are the price of each paid call less the platform fee."
          )
        : contentOf(summary)
    )
  )
}

const feeText = ({ platform_fee_rate, platform_fee_terms: { upcoming } }: Earnings): string =>
  upcoming === null
    ? `now ${platform_fee_rate}`
    : `now ${platform_fee_rate}, from ${day(upcoming.effective_from)} ${upcoming.platform_fee_bps / 100}%`

const contentOf = (summary: Earnings): ComponentChildren => [
  figures([
    ["Net earnings", money(summary.earnings.net_earnings_microcents), `after the platform fee, ${feeText(summary)}`],
    ["Gross revenue", money(summary.earnings.gross_revenue_microcents)],
    ["Platform fee", money(summary.earnings.platform_fee_microcents)],
    ["Calls", count(summary.total_calls), "including free and failed calls"]
  ]),
  h(TimeChart, {
    title: "Net earnings by week",
    unit: "Net",
    pointLabel: "Week of",
    points: summary.by_week.map(({ net_microcents: value, week_of: date }) => ({ date, value })),
    // Ticks of a small scale may be fractions of a microcent.
    format: (value) => money(Math.round(value))
  }),
  h("h3", null, "By tool"),
  h(DataTable<ToolEarnings>, {
    caption: "Earnings by tool",
    columns: EARNING_COLUMNS,
    rows: summary.by_tool,
    keyOf: ({ tool }) => tool
  })
]

const EARNING_COLUMNS: ReadonlyArray<Column<ToolEarnings>> = [
  { name: "Tool", cell: (tool) => tool.tool_name },
  { name: "Calls", cell: ({ calls }) => count(calls), isNumber: true },
  { name: "Gross", cell: (tool) => money(tool.gross_microcents), isNumber: true },
  { name: "Fee", cell: (tool) => money(tool.platform_fee_microcents), isNumber: true },
  { name: "Net", cell: (tool) => money(tool.net_microcents), isNumber: true }
]

// The provider's account at the payment processor, which receives payouts.

type Status = Connection["status"]

const ACCOUNT_STATUSES: Badges<Status> = {
  not_started: ["Not set up", ""],
  pending: ["Pending", "info"],
  complete: ["Complete", "good"],
  restricted: ["Restricted", "bad"]
}

const MEANINGS: Readonly<Record<Status, string>> = {
  not_started: "The payment processor must verify your identity before it can pay you.",
  pending: "The payment processor is reviewing your account or needs more information.",
  complete: "Payouts are enabled.",
  restricted: "Payouts are disabled until you provide the required information."
}

interface PayoutAccountProps {
  readonly connection: Connection
  readonly isDryRun: boolean
}

const PayoutAccount = ({ connection, isDryRun }: PayoutAccountProps): View =>
  section(
    "payout-account",
    h("h3", null, "Payout account"),
    isDryRun
      ? h(
          Notice,
          null,
          "This service runs in dry run mode: payouts are simulated, so you need no payout account. No money moves."
        )
      : h(Account, { connection })
  )

const Account = ({ connection }: { readonly connection: Connection }): ComponentChildren => {
  const { api } = useConsole()
  const { requirements, status, stripe_account_id: accountId } = connection
  return [
    h("p", null, statusBadge(ACCOUNT_STATUSES, status), " ", MEANINGS[status]),
    facts([
      ["Account ID", accountId === null ? undefined : h("code", null, accountId)],
      ["Required now", listOf(requirements.currently_due)],
      ["Required later", listOf(requirements.eventually_due)],
      ["Errors", listOf(requirements.errors)]
    ]),
    h(
      "div",
      { class: "actions" },
      h(ActionButton, {
        label: status === "not_started" ? "Set up payouts" : "Update payout account",
        style: status === "complete" ? "plain" : "",
        run: async (idempotencyKey) => {
          const { url } = await api.post<ConnectResponse>(CONNECT_PATH, {}, idempotencyKey)
          if (!/^https?:/u.test(url)) throw new Error(`The payment processor returned an invalid URL: ${url}`)
          location.assign(url)
          return "Opening the payment processor…"
        }
      })
    )
  ]
}

const listOf = (all: ReadonlyArray<string>): ReadonlyArray<View> | undefined =>
  all.length === 0 ? undefined : all.map((one) => h("div", { key: one }, requirementLabel(one)))

/** Formats names of the processor such as `individual.dob.day`. */
const requirementLabel = (name: string): string => {
  if (!/^[\w.]+$/u.test(name)) return name
  const words = name.replaceAll("_", " ").replaceAll(".", ": ")
  return words.slice(0, 1).toUpperCase() + words.slice(1)
}

// The switch for automatic payouts.

const AutomaticPayouts = ({ payouts }: { readonly payouts: Payouts }): View => {
  const { api } = useConsole()
  const request = useMemo(idempotentRequest, [])
  const [isOn, setOn] = useState(payouts.automatic)
  const [isSaving, setSaving] = useState(false)
  const change = async (enabled: boolean) => {
    setOn(enabled)
    setSaving(true)
    try {
      await api.post(`${PAYOUTS_PATH}/automatic`, { enabled }, request.keyFor(String(enabled)))
      request.finished()
      announce(
        "good",
        enabled
          ? `Automatic payouts are on: monthly, from ${payouts.minimum_payout}.`
          : "Automatic payouts are off. Request payouts here."
      )
    } catch (error) {
      request.finished(error)
      setOn(!enabled)
      announce("bad", errorMessage(error))
    } finally {
      setSaving(false)
    }
  }
  return h(
    "p",
    null,
    h(
      "label",
      { for: "automatic" },
      h("input", {
        id: "automatic",
        type: "checkbox",
        role: "switch",
        checked: isOn,
        // Disabling it would lose the focus.
        "aria-disabled": isSaving ? "true" : "false",
        onClick: (event: Event) => {
          if (isSaving) event.preventDefault()
        },
        onChange: ({ currentTarget }: Event) => void change((currentTarget as HTMLInputElement).checked)
      }),
      "Pay out automatically on the first days of each month (UTC)"
    )
  )
}

// Says that the last payout failed: why, where its money is, and what to do.

interface FailedPayoutProps {
  readonly payouts: Payouts
  readonly connection: Connection
}

const FailedPayout = ({ connection, payouts }: FailedPayoutProps): View | undefined => {
  const [last] = payouts.history
  if (last?.status !== "failed") return undefined
  return h(
    "div",
    { id: "payout-failed" },
    h(
      Notice,
      { style: "bad" },
      h(
        "p",
        null,
        h(
          "strong",
          null,
          `Your payout of ${moneyOfCents(last.amount_cents)} failed on ${day(last.created_at)} and the money is in your balance again.`
        )
      ),
      h("p", null, `The payment processor's reason: ${last.failure ?? "none was given"}`),
      h(
        "p",
        null,
        connection.connected
          ? "You can request the payout again. If it fails again, contact the operator of this service, who can retry it too."
          : "Update your payout account below, then request the payout again."
      )
    )
  )
}

// Payouts so far, newest first.

type Payout = Payouts["history"][number]

const PAYOUT_STATUSES: Badges<Payout["status"]> = {
  requested: ["Requested", "info"],
  transferring: ["In transit", "info"],
  paid: ["Paid", "good"],
  failed: ["Failed", "bad"],
  reversed: ["Reversed", "bad"]
}

const PayoutHistory = ({ history }: { readonly history: ReadonlyArray<Payout> }): ComponentChildren => [
  h("h3", null, "Payout history"),
  h(DataTable<Payout>, { caption: "Payout history", columns: PAYOUT_COLUMNS, rows: history, keyOf: ({ id }) => id })
]

const PAYOUT_COLUMNS: ReadonlyArray<Column<Payout>> = [
  { name: "Requested", cell: ({ created_at: at }) => h(TimeText, { at }) },
  { name: "Amount", cell: (one) => moneyOfCents(one.amount_cents), isNumber: true },
  { name: "Status", cell: ({ status }) => statusBadge(PAYOUT_STATUSES, status) },
  { name: "Paid", cell: ({ paid_at: at }) => (at === null ? "–" : h(TimeText, { at })) },
  {
    name: "Result",
    cell: ({ failure, stripe_transfer_id: transfer }) =>
      failure ?? (transfer === null ? "–" : h("code", null, transfer)),
    isLong: true
  }
]

// The steps of a payout, as a dry run simulates them.

const stepsOf = (amount: string): ReadonlyArray<readonly [status: string, text: string]> => [
  ["Requested", `${amount} of your available balance is reserved.`],
  ["In transit", `The payment processor transfers ${amount} to your payout account.`],
  ["Paid", "The payout history shows the transfer."]
]

const showSimulation = (cents: number): Promise<void> =>
  openModal("Simulated payout", () => [
    h("p", null, `A payout of ${moneyOfCents(cents)} succeeds:`),
    h(
      "ol",
      { class: "steps" },
      stepsOf(moneyOfCents(cents)).map(([status, text]) =>
        h("li", { key: status }, h("strong", null, status), ": ", text)
      )
    ),
    h("p", null, "This service runs in dry run mode: nothing was paid, and your balance is unchanged.")
  ])

// Money that can be paid out, money that cannot yet, and the button that pays it out.

/** `minimum_payout` is formatted in dollars. */
const centsOf = (text: string): number => Math.round(Number(text.replace(/[$,]/gu, "")) * 100)

interface PayoutBalanceProps {
  readonly payouts: Payouts
  readonly changed: () => Promise<void>
}

const PayoutBalance = ({ changed, payouts }: PayoutBalanceProps): ComponentChildren => {
  const last = payouts.history.find(({ status }) => status === "paid")
  if (payouts.pending_balance_cents === 0 && last === undefined) {
    return h(
      Empty,
      null,
      `No earnings yet. Paid calls earn money, which matures for some days and can then be paid out, from ${payouts.minimum_payout}.`
    )
  }
  return [
    figures([
      ["Available for payout", moneyOfCents(payouts.available_cents), `minimum ${payouts.minimum_payout}`],
      ["Maturing", moneyOfCents(payouts.maturing_cents), nextMaturity(payouts)],
      ...unavailable(payouts),
      last === undefined
        ? ["Last payout", "None"]
        : ["Last payout", moneyOfCents(last.amount_cents), day(last.paid_at ?? last.created_at)]
    ]),
    h(PayOut, { payouts, changed })
  ]
}

const PayOut = ({ changed, payouts }: PayoutBalanceProps): View => {
  const { api } = useConsole()
  const available = payouts.available_cents
  const isDryRun = payouts.mode === "dry_run"
  const missing = centsOf(payouts.minimum_payout) - available
  if (missing > 0) {
    return h(
      Notice,
      null,
      payouts.owed_cents > 0
        ? `You owe ${moneyOfCents(payouts.owed_cents)} for refunds. Your next earnings pay it first.`
        : `You need ${moneyOfCents(missing)} more for a payout.`
    )
  }
  return h(
    "div",
    { class: "actions" },
    h(ActionButton, {
      label: isDryRun ? `Simulate a payout of ${moneyOfCents(available)}` : `Pay out ${moneyOfCents(available)}`,
      ...(isDryRun
        ? {}
        : {
            confirm: {
              title: `Pay out ${moneyOfCents(available)}?`,
              text: "The full available amount is transferred to your payout account.",
              action: "Pay out"
            }
          }),
      run: async (idempotencyKey) => {
        const payout = await api.post<PayoutResponse>(PAYOUTS_PATH, {}, idempotencyKey)
        if (payout.mode === "dry_run") return showSimulation(payout.would_payout_cents)
        await changed()
        if (payout.status !== "failed") return payout.message
        announce("bad", payout.message)
      }
    })
  )
}

const nextMaturity = ({ maturities }: Payouts): string => {
  const next = maturities.find(({ from }) => from === "maturing")
  return next === undefined ? "" : `${moneyOfCents(next.amount_cents)} available on ${next.available_on}`
}

const unavailable = (payouts: Payouts): ReadonlyArray<Figure> =>
  (
    [
      ["Reserved", payouts.reserved_cents, "rolling reserve"],
      ["Frozen", payouts.frozen_cents, "until disputes are decided"],
      ["Owed for refunds", payouts.owed_cents, "paid from your next earnings"]
    ] as const
  ).flatMap(([name, cents, note]) => (cents > 0 ? [[name, moneyOfCents(cents), note] as const] : []))

/** The interval while the payment processor works on a payout. */
const LIVE_MS = 3_000

export const tab = (): ComponentChildren => {
  const { api } = useConsole()
  const money = useResource(
    async () => {
      const [payouts, connection] = await Promise.all([
        api.get<Payouts>(PAYOUTS_PATH),
        api.get<Connection>(CONNECT_PATH)
      ])
      return { payouts, connection }
    },
    [],
    { refreshMs: ({ payouts }) => (payouts.history.some(({ status }) => OPEN.has(status)) ? LIVE_MS : undefined) }
  )
  return [
    h(EarningsSummary, null),
    section(
      "payouts",
      h("h2", null, "Payouts"),
      loaded(money, ({ connection, payouts }) => [
        h(FailedPayout, { payouts, connection }),
        h(PayoutBalance, { payouts, changed: money.reload }),
        h(AutomaticPayouts, { payouts }),
        h(PayoutAccount, { connection, isDryRun: payouts.mode === "dry_run" }),
        payouts.history.length === 0 ? undefined : h(PayoutHistory, { history: payouts.history })
      ])
    ),
    h("h2", null, "Statements"),
    h(DocumentList, { title: "Statements" })
  ]
}

const OPEN: ReadonlySet<Payouts["history"][number]["status"]> = new Set(["requested", "transferring"])
