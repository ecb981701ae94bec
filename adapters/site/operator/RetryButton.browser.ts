/**
 * Retries a failed payout, after asking for the reason.
 */
import { Fragment } from "preact"
import { announce } from "../console/Announcements.browser.ts"
import { useConsole } from "../console/ConsoleContext.browser.ts"
import { InputForm } from "../console/InputForm.browser.ts"
import { openModal } from "../console/Modal.browser.ts"
import { h, type View } from "../console/View.browser.ts"
import { moneyOfCents } from "../kit/Format.browser.ts"
import { OPERATOR } from "./OperatorLists.browser.ts"
import type { Payouts, RetriedPayout } from "./OperatorResponses.browser.ts"

interface RetryProps {
  readonly payout: Payouts["payouts"][number]
  readonly retried: () => void
}

export const RetryButton = ({ payout, retried }: RetryProps): View => {
  const { api } = useConsole()
  const path = `${OPERATOR}/payouts/${encodeURIComponent(payout.payout_id)}/retry`
  const ask = () =>
    openModal("Retry the payout", (close) =>
      h(
        Fragment,
        null,
        h(
          "p",
          null,
          "A new payout goes to the provider's own account: what it has available now, which may differ from the failed payout."
        ),
        h(InputForm, {
          id: "retry-payout",
          submit: "Retry payout",
          fields: [{ name: "reason", label: "Reason", hint: "For the audit trail." }],
          send: async ({ reason }, idempotencyKey) => {
            const found = await api.post<RetriedPayout>(path, { reason }, idempotencyKey)
            close()
            retried()
            announce(found.state === "failed" ? "bad" : "good", resultOf(found))
          }
        })
      )
    )
  return h("button", { type: "button", class: "plain tiny", onClick: () => void ask() }, "Retry")
}

const resultOf = ({ amount_cents: cents, failure, repeated, state }: RetriedPayout): string => {
  const amount = moneyOfCents(cents)
  if (repeated) return `This payout was retried before. Nothing more was paid. The payout of ${amount} is ${state}.`
  if (state === "failed") return `The new payout of ${amount} failed too: ${failure ?? "no reason was given"}`
  return state === "paid" ? `A new payout of ${amount} was made.` : `A new payout of ${amount} is in progress.`
}
