/**
 * The developer's balance, and adding funds.
 */
import { accountApi } from "../kit/AccountApi.browser.ts"
import { invalid } from "../kit/ApiRequest.browser.ts"
import { el, figures, notice } from "../kit/Dom.browser.ts"
import { money, parseDollars } from "../kit/Format.browser.ts"
import { form } from "../kit/Form.browser.ts"
import { type Panel, panel } from "../kit/Panel.browser.ts"
import type { Balance, LoadResponse } from "../kit/ApiResponses.browser.ts"

const MICROCENTS_PER_CENT = 10_000
const LOAD_CENTS_MIN = 100
const LOAD_CENTS_MAX = 100_000
const LIMITS = `From ${money(LOAD_CENTS_MIN * MICROCENTS_PER_CENT)} to ${money(LOAD_CENTS_MAX * MICROCENTS_PER_CENT)}.`

const api = accountApi("consumer")

export const balancePanel = (): Panel =>
  panel("wallet", "Balance", async (reload) => {
    const balance = await api.get<Balance>("/api/v1/market/balance")
    const debt = balance.debt_microcents
    return [
      ...(debt > 0
        ? [notice("bad", `You owe ${money(debt)} after a reversed payment. The next funds you add pay it first.`)]
        : []),
      ...(balance.available_microcents === 0 && balance.held_microcents === 0
        ? [notice("", "Your balance is empty. Add funds to call paid tools; free calls work without a balance.")]
        : []),
      figures([
        ["Available balance", money(balance.available_microcents)],
        ["Reserved", money(balance.held_microcents), "for calls in progress"],
        ["Total balance", money(balance.balance_microcents)],
        ["Rate limit", balance.rate_limit_rpm.toLocaleString(), "requests per minute"]
      ]),
      addFundsForm(reload)
    ]
  })

const addFundsForm = (reload: () => Promise<void>): HTMLElement =>
  form({
    id: "load",
    style: "row",
    submit: "Add funds",
    fields: [{ name: "amount_cents", label: "Amount in dollars", type: "number", value: "5.00", hint: LIMITS }],
    send: async ({ amount_cents: dollars }, idempotencyKey) => {
      const cents = (parseDollars(dollars) ?? Number.NaN) / MICROCENTS_PER_CENT
      if (!Number.isInteger(cents)) throw invalid({ amount_cents: "Enter dollars and cents, such as 5.00." })
      // The API's message has the limits in cents.
      if (cents < LOAD_CENTS_MIN || cents > LOAD_CENTS_MAX) throw invalid({ amount_cents: LIMITS })
      const loaded = await api.post<LoadResponse>("/api/market/balance/load", { amount_cents: cents }, idempotencyKey)
      if (loaded.mode === "live") {
        location.assign(loaded.checkout_url)
        return el("p", loaded.message, " ", el("a", { href: loaded.checkout_url }, "Continue to payment"))
      }
      await reload()
      document.querySelector("#wallet .body")?.prepend(notice("good", loaded.message))
      return undefined
    }
  })
