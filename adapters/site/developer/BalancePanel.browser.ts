/**
 * What a developer has, and putting more in.
 */
import type { Balance, Loaded } from "../kit/Answers.browser.ts"
import { ask, Refused } from "../kit/Api.browser.ts"
import { el, figures, notice } from "../kit/Dom.browser.ts"
import { microcentsOf, money } from "../kit/Figures.browser.ts"
import { form } from "../kit/Form.browser.ts"
import { type Panel, panel } from "../kit/Panel.browser.ts"
import { keyOf } from "../kit/Session.browser.ts"

const MICROCENTS_PER_CENT = 10_000
const LOAD_CENTS_MIN = 100
const LOAD_CENTS_MAX = 100_000
const LIMITS = `From ${money(LOAD_CENTS_MIN * MICROCENTS_PER_CENT)} to ${money(LOAD_CENTS_MAX * MICROCENTS_PER_CENT)} at once.`

const refused = (message: string): Refused => new Refused(422, { details: [{ path: ["amount_cents"], message }] })

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
    fields: [{ name: "amount_cents", label: "Dollars to load", type: "number", value: "5.00", hint: LIMITS }],
    send: async ({ amount_cents: dollars }, idempotencyKey) => {
      const microcents = microcentsOf(dollars!)
      const cents = (microcents ?? Number.NaN) / MICROCENTS_PER_CENT
      if (!Number.isInteger(cents)) throw refused("Write dollars and cents, such as 5.00.")
      // The service would say it in cents.
      if (cents < LOAD_CENTS_MIN || cents > LOAD_CENTS_MAX) throw refused(LIMITS)
      const loaded = await ask<Loaded>("POST", "/api/market/balance/load", {
        key: keyOf("consumer"),
        idempotencyKey,
        body: { amount_cents: cents }
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
