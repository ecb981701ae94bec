/**
 * Adds funds: by a payment, or as test credit in a dry run.
 */
import { Fragment } from "preact"
import { useConsole } from "../../console/ConsoleContext.browser.ts"
import { InputForm } from "../../console/InputForm.browser.ts"
import type { Resource } from "../../console/Resource.browser.ts"
import { invalid } from "../../kit/ApiRequest.browser.ts"
import type { Balance, LoadResponse } from "../../kit/ApiResponses.browser.ts"
import { money, parseDollars } from "../../kit/Format.browser.ts"
import { h, type View } from "../../console/View.browser.ts"
import { rememberFunds } from "./CheckoutResult.browser.ts"

const MICROCENTS_PER_CENT = 10_000
const LOAD_CENTS_MIN = 100
const LOAD_CENTS_MAX = 100_000
const LIMITS = `From ${money(LOAD_CENTS_MIN * MICROCENTS_PER_CENT)} to ${money(LOAD_CENTS_MAX * MICROCENTS_PER_CENT)}.`

export interface AddFundsProps {
  readonly balance: Resource<Balance>
}

export const AddFunds = ({ balance }: AddFundsProps): View => {
  const { api } = useConsole()
  return h(InputForm, {
    id: "load",
    style: "row",
    submit: "Add funds",
    fields: [{ name: "amount_cents", label: "Amount in dollars", type: "number", value: "5.00", hint: LIMITS }],
    send: async ({ amount_cents: dollars }, idempotencyKey) => {
      const cents = centsIn(dollars)
      if (!Number.isInteger(cents)) throw invalid({ amount_cents: "Enter dollars and cents, such as 5.00." })
      // The API's message has the limits in cents.
      if (cents < LOAD_CENTS_MIN || cents > LOAD_CENTS_MAX) throw invalid({ amount_cents: LIMITS })
      const loaded = await api.post<LoadResponse>("/api/market/balance/load", { amount_cents: cents }, idempotencyKey)
      if (loaded.mode === "live") {
        rememberFunds(await api.get<Balance>("/api/v1/market/balance"))
        location.assign(loaded.checkout_url)
        return h(Fragment, null, loaded.message, " ", h("a", { href: loaded.checkout_url }, "Continue to payment"))
      }
      // In a dry run, the funds arrive at once.
      await balance.reload()
      return loaded.message
    }
  })
}

/** Not a number where it is no amount of whole cents. */
export const centsIn = (dollars: string | undefined): number =>
  (parseDollars(dollars) ?? Number.NaN) / MICROCENTS_PER_CENT
