/**
 * The provider's money: earnings, payouts and statements.
 */
import { Fragment } from "preact"
import { useMemo, useState } from "preact/hooks"
import { ActionButton } from "../../console/ActionButton.browser.ts"
import { announce } from "../../console/Announcements.browser.ts"
import { useConsole } from "../../console/ConsoleContext.browser.ts"
import { type Column, DataTable } from "../../console/DataTable.browser.ts"
import { DocumentList } from "../../console/DocumentList.browser.ts"
import { openModal } from "../../console/Modal.browser.ts"
import { Loaded, useResource } from "../../console/Resource.browser.ts"
import {
  type Badges,
  Empty,
  type Figure,
  Figures,
  Notice,
  statusBadge,
  TimeText
} from "../../console/Values.browser.ts"
import { h, type View } from "../../console/View.browser.ts"
import { errorMessage, idempotentRequest } from "../../kit/ApiRequest.browser.ts"
import type { Connection, PayoutResponse, Payouts } from "../../kit/ApiResponses.browser.ts"
import { day, moneyOfCents } from "../../kit/Format.browser.ts"
import { EarningsSummary } from "./EarningsSummary.browser.ts"
import { PayoutAccount } from "./PayoutAccount.browser.ts"
import { CONNECT_PATH, PAYOUTS_PATH } from "./PayoutTerms.browser.ts"

// The switch for automatic payouts.

export const AutomaticPayouts = ({ payouts }: { readonly payouts: Payouts }): View => {
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

export interface FailedPayoutProps {
  readonly payouts: Payouts
  readonly connection: Connection
}

export const FailedPayout = ({ connection, payouts }: FailedPayoutProps): View | undefined => {
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

const STATUSES: Badges<Payout["status"]> = {
  requested: ["Requested", "info"],
  transferring: ["In transit", "info"],
  paid: ["Paid", "good"],
  failed: ["Failed", "bad"],
  reversed: ["Reversed", "bad"]
}

export const PayoutHistory = ({ history }: { readonly history: ReadonlyArray<Payout> }): View =>
  h(
    Fragment,
    null,
    h("h3", null, "Payout history"),
    h(DataTable<Payout>, { caption: "Payout history", columns: COLUMNS, rows: history, keyOf: ({ id }) => id })
  )

const COLUMNS: ReadonlyArray<Column<Payout>> = [
  { name: "Requested", cell: ({ created_at: at }) => h(TimeText, { at }) },
  { name: "Amount", cell: (one) => moneyOfCents(one.amount_cents), isNumber: true },
  { name: "Status", cell: ({ status }) => statusBadge(STATUSES, status) },
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

export const showSimulation = (cents: number): Promise<void> =>
  openModal("Simulated payout", () =>
    h(
      Fragment,
      null,
      h("p", null, `A payout of ${moneyOfCents(cents)} succeeds:`),
      h(
        "ol",
        { class: "steps" },
        stepsOf(moneyOfCents(cents)).map(([status, text]) =>
          h("li", { key: status }, h("strong", null, status), ": ", text)
        )
      ),
      h("p", null, "This service runs in dry run mode: nothing was paid, and your balance is unchanged.")
    )
  )

// What can be paid out and what cannot yet, and the button that pays it out.

/** Of `minimum_payout`, which is formatted in dollars. */
const centsOf = (text: string): number => Math.round(Number(text.replace(/[$,]/gu, "")) * 100)

export interface PayoutBalanceProps {
  readonly payouts: Payouts
  readonly changed: () => Promise<void>
}

export const PayoutBalance = ({ changed, payouts }: PayoutBalanceProps): View => {
  const last = payouts.history.find(({ status }) => status === "paid")
  if (payouts.pending_balance_cents === 0 && last === undefined) {
    return h(
      Empty,
      null,
      `No earnings yet. Paid calls earn money, which matures for some days and can then be paid out, from ${payouts.minimum_payout}.`
    )
  }
  return h(
    Fragment,
    null,
    h(Figures, {
      all: [
        ["Available for payout", moneyOfCents(payouts.available_cents), `minimum ${payouts.minimum_payout}`],
        ["Maturing", moneyOfCents(payouts.maturing_cents), nextMaturity(payouts)],
        ...unavailable(payouts),
        last === undefined
          ? ["Last payout", "None"]
          : ["Last payout", moneyOfCents(last.amount_cents), day(last.paid_at ?? last.created_at)]
      ]
    }),
    h(PayOut, { payouts, changed })
  )
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

/** While the payment processor works on a payout. */
const LIVE_MS = 3_000

interface Money {
  readonly payouts: Payouts
  readonly connection: Connection
}

export const tab = (): View => {
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
  return h(
    Fragment,
    null,
    h(EarningsSummary, null),
    h(
      "section",
      { id: "payouts" },
      h("h2", null, "Payouts"),
      h(Loaded<Money>, {
        of: money,
        show: ({ connection, payouts }) =>
          h(
            Fragment,
            null,
            h(FailedPayout, { payouts, connection }),
            h(PayoutBalance, { payouts, changed: money.reload }),
            h(AutomaticPayouts, { payouts }),
            h(PayoutAccount, { connection, isDryRun: payouts.mode === "dry_run" }),
            payouts.history.length === 0 ? undefined : h(PayoutHistory, { history: payouts.history })
          )
      })
    ),
    h("h2", null, "Statements"),
    h(DocumentList, { title: "Statements" })
  )
}

const OPEN: ReadonlySet<Payouts["history"][number]["status"]> = new Set(["requested", "transferring"])
