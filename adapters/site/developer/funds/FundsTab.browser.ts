/**
 * The developer's money: balance, adding funds, and withdrawals of unspent funds.
 */
import type { ComponentChildren } from "preact"
import { useConsole } from "../../console/ConsoleContext.browser.ts"
import { InputForm } from "../../console/InputForm.browser.ts"
import { pathTo, place } from "../../console/Place.browser.ts"
import { loaded, type Resource, useResource } from "../../console/Resource.browser.ts"
import { figures, h, Notice, section, type View } from "../../console/View.browser.ts"
import { invalid } from "../../kit/ApiRequest.browser.ts"
import type { Balance, LoadResponse } from "../../kit/ApiResponses.browser.ts"
import { centsIn, money, moneyOfCents } from "../../kit/Format.browser.ts"
import { KEY_CHANGED, storedKey } from "../../kit/Session.browser.ts"

export const tab = (): ComponentChildren => {
  const { api } = useConsole()
  const balance = useResource(() => api.get<Balance>("/api/v1/market/balance"), [], { refreshMs: checkoutRefreshMs })
  return [
    section(
      "wallet",
      loaded(balance, (value) => [
        h(CheckoutResult, { balance: value }),
        figures([
          ["Available balance", money(value.available_microcents)],
          ["Reserved", money(value.held_microcents), "for calls in progress"],
          ["Total balance", money(value.balance_microcents)]
        ])
      ]),
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
  ]
}

// Adds funds: by a payment, or as test credit in a dry run.

// States of a payment after its checkout: canceled, pending until the balance is credited, or received.

/** The checkout returns to the page with `load=success` or `load=canceled`. */
const RESULT = "load"
const STORAGE_NAME = "agent-tool-billing.checkout"
const REFRESH_MS = 3_000
/** After this time the page no longer refreshes itself. */
const WAIT_MS_MAX = 300_000

/** Funds after debt: a payment pays the debt first. */
const fundsOf = ({ balance_microcents: balance, debt_microcents: debt }: Balance): number => balance - debt

/** Call it before the browser leaves for the checkout. */
const rememberFunds = (balance: Balance): void =>
  sessionStorage.setItem(STORAGE_NAME, JSON.stringify({ funds: fundsOf(balance), at: Date.now() }))

addEventListener(KEY_CHANGED, () => {
  if (storedKey("consumer") === undefined) sessionStorage.removeItem(STORAGE_NAME)
})

const remembered = (): { readonly funds: number; readonly at: number } | undefined => {
  const text = sessionStorage.getItem(STORAGE_NAME)
  return text === null ? undefined : (JSON.parse(text) as { readonly funds: number; readonly at: number })
}

type Result = "none" | "canceled" | "pending" | "late" | "received"

const openedAt = Date.now()

const resultOf = (balance: Balance): Result => {
  switch (place.value.query.get(RESULT)) {
    case "canceled":
      return "canceled"
    case "success": {
      const before = remembered()
      if (before !== undefined && fundsOf(balance) > before.funds) return "received"
      return Date.now() - openedAt > WAIT_MS_MAX ? "late" : "pending"
    }
    default:
      return "none"
  }
}

/** Returns the time after which the balance is loaded again. */
const checkoutRefreshMs = (balance: Balance): number | undefined =>
  resultOf(balance) === "pending" ? REFRESH_MS : undefined

const CheckoutResult = ({ balance }: { readonly balance: Balance }): View | null => {
  switch (resultOf(balance)) {
    case "canceled":
      return h(Notice, null, "Payment canceled. Nothing was charged.")
    case "received":
      return h(
        Notice,
        { style: "good" },
        `Payment received. Your available balance is ${money(balance.available_microcents)}.`
      )
    case "pending":
      return h(
        Notice,
        null,
        "Payment pending. The balance is credited once the payment processor confirms the payment, usually within a minute. This page updates itself."
      )
    case "late":
      return h(
        Notice,
        null,
        "Payment pending. The payment processor has not confirmed the payment yet. Reload this page later; the payment is not lost."
      )
    default:
      return null
  }
}

const LOAD_CENTS_MIN = 100
const LOAD_CENTS_MAX = 100_000
const LIMITS = `From ${moneyOfCents(LOAD_CENTS_MIN)} to ${moneyOfCents(LOAD_CENTS_MAX)}.`

const AddFunds = ({ balance }: { readonly balance: Resource<Balance> }): View => {
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
        return [loaded.message, " ", h("a", { href: loaded.checkout_url }, "Continue to payment")]
      }
      // In a dry run, the funds arrive at once.
      await balance.reload()
      return loaded.message
    }
  })
}
