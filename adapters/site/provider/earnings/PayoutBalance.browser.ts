/**
 * What can be paid out and what cannot yet, and the button that pays it out.
 */
import { Fragment } from "preact"
import { ActionButton } from "../../console/ActionButton.browser.ts"
import { announce } from "../../console/Announcements.browser.ts"
import { Empty, Notice } from "../../console/Badge.browser.ts"
import { useConsole } from "../../console/ConsoleContext.browser.ts"
import { type Figure, Figures } from "../../console/Figures.browser.ts"
import { h, type View } from "../../console/View.browser.ts"
import type { PayoutResponse, Payouts } from "../../kit/ApiResponses.browser.ts"
import { day, moneyOfCents } from "../../kit/Format.browser.ts"
import { PAYOUTS_PATH } from "./PayoutTerms.browser.ts"
import { showSimulation } from "./SimulatedPayout.browser.ts"

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
