/**
 * What a developer has, and putting more in.
 */
import type { Balance, Loaded } from "./Answers.ts"
import { ask, Refused } from "./Api.ts"
import { el, figures, notice } from "./Dom.ts"
import { microcentsOf, money } from "./Figures.ts"
import { form } from "./Form.ts"
import { type Panel, panel } from "./Panel.ts"
import { keyOf } from "./Session.ts"

const MICROCENTS_PER_CENT = 10_000

export const wallet = (): Panel =>
  panel("wallet", "Balance", async (reload) => {
    const balance = await ask<Balance>("GET", "/api/v1/market/balance", { key: keyOf("consumer") })
    return [
      ...(balance.debt_microcents > 0
        ? [
            notice(
              "bad",
              `You owe ${money(balance.debt_microcents)} after a payment that was taken back. The next load pays it first.`
            )
          ]
        : []),
      ...(balance.available_microcents === 0 && balance.held_microcents === 0
        ? [notice("", "There is nothing to spend yet. Load some money below; free calls need none.")]
        : []),
      figures([
        ["To spend", money(balance.available_microcents)],
        ["Held by calls under way", money(balance.held_microcents)],
        ["Balance", money(balance.balance_microcents)],
        ["Requests a minute", balance.rate_limit_rpm.toLocaleString()]
      ]),
      loading(reload)
    ]
  })

const loading = (reload: () => Promise<void>): HTMLElement =>
  form({
    id: "load",
    style: "row",
    submit: "Load",
    fields: [{ name: "amount_cents", label: "Dollars to load", type: "number", value: "5.00" }],
    send: async ({ amount_cents: dollars }, idempotencyKey) => {
      const microcents = microcentsOf(dollars!)
      if (microcents === undefined || microcents % MICROCENTS_PER_CENT !== 0) {
        throw new Refused(422, {
          details: [{ path: ["amount_cents"], message: "Write dollars and cents, such as 5.00." }]
        })
      }
      const loaded = await ask<Loaded>("POST", "/api/market/balance/load", {
        key: keyOf("consumer"),
        idempotencyKey,
        body: { amount_cents: microcents / MICROCENTS_PER_CENT }
      })
      if (loaded.mode === "live") {
        location.assign(loaded.checkout_url)
        return el("p", {}, loaded.message, " ", el("a", { href: loaded.checkout_url }, "Go on to the payment"))
      }
      // The panel is made anew with the money in it; this is said where it stays.
      await reload()
      document.querySelector("#wallet .body")?.prepend(notice("good", loaded.message))
      return undefined
    }
  })
