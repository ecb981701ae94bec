/**
 * The steps of a payout, as a dry run simulates them.
 */
import { Fragment } from "preact"
import { openModal } from "../../console/Modal.browser.ts"
import { h } from "../../console/View.browser.ts"
import { moneyOfCents } from "../../kit/Format.browser.ts"

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
