/**
 * The developer's money: balance, adding funds, and withdrawals of unspent funds.
 */
import { Fragment } from "preact"
import { useConsole } from "../../console/ConsoleContext.browser.ts"
import { pathTo } from "../../console/Place.browser.ts"
import { Loaded, useResource } from "../../console/Resource.browser.ts"
import { Figures } from "../../console/Values.browser.ts"
import { h, type View } from "../../console/View.browser.ts"
import type { Balance } from "../../kit/ApiResponses.browser.ts"
import { money } from "../../kit/Format.browser.ts"
import { AddFunds, checkoutRefreshMs, CheckoutResult } from "./AddFunds.browser.ts"

export const tab = (): View => {
  const { api } = useConsole()
  const balance = useResource(() => api.get<Balance>("/api/v1/market/balance"), [], { refreshMs: checkoutRefreshMs })
  return h(
    Fragment,
    null,
    h(
      "section",
      { id: "wallet" },
      h(Loaded<Balance>, {
        of: balance,
        show: (value) =>
          h(
            Fragment,
            null,
            h(CheckoutResult, { balance: value }),
            h(Figures, {
              all: [
                ["Available balance", money(value.available_microcents)],
                ["Reserved", money(value.held_microcents), "for calls in progress"],
                ["Total balance", money(value.balance_microcents)]
              ]
            })
          )
      }),
      h("h2", null, "Add funds"),
      h(AddFunds, { balance }),
      h(
        "p",
        { class: "small muted" },
        "You can withdraw unspent funds in ",
        h("a", { href: pathTo("settings") }, "Settings"),
        "."
      )
    )
  )
}
