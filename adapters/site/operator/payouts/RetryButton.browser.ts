/**
 * Retries a failed payout, after asking for the reason.
 */
import { Fragment } from "preact"
import { announce } from "../../console/Announcements.browser.ts"
import { useConsole } from "../../console/ConsoleContext.browser.ts"
import { InputForm } from "../../console/InputForm.browser.ts"
import { openModal } from "../../console/Modal.browser.ts"
import { h, type View } from "../../console/View.browser.ts"
import { OPERATOR } from "../OperatorLists.browser.ts"
import type { Payouts, RetriedPayout } from "../OperatorResponses.browser.ts"

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
            const { failure, state } = await api.post<RetriedPayout>(path, { reason }, idempotencyKey)
            close()
            retried()
            if (state === "failed") announce("bad", `The new payout failed too: ${failure ?? "no reason was given"}`)
            else announce("good", "A new payout is under way.")
          }
        })
      )
    )
  return h("button", { type: "button", class: "plain tiny", onClick: () => void ask() }, "Retry")
}
