/**
 * Says that the last payout failed: why, where its money is, and what to do.
 */
import { Notice } from "../../console/Badge.browser.ts"
import { h, type View } from "../../console/View.browser.ts"
import type { Connection, Payouts } from "../../kit/ApiResponses.browser.ts"
import { day, moneyOfCents } from "../../kit/Format.browser.ts"

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
