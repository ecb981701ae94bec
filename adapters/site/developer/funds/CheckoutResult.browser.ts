/**
 * What became of a payment after its checkout: canceled, pending until the balance is credited, or received.
 */
import { place } from "../../console/Place.browser.ts"
import { Notice } from "../../console/Values.browser.ts"
import { h, type View } from "../../console/View.browser.ts"
import type { Balance } from "../../kit/ApiResponses.browser.ts"
import { money } from "../../kit/Format.browser.ts"
import { KEY_CHANGED, storedKey } from "../../kit/Session.browser.ts"

/** The checkout returns to the page with `load=success` or `load=canceled`. */
const RESULT = "load"
const STORAGE_NAME = "agent-tool-billing.checkout"
const REFRESH_MS = 3_000
/** After this time the page no longer refreshes itself. */
const WAIT_MS_MAX = 300_000

/** Funds after debt: a payment pays the debt first. */
const fundsOf = ({ balance_microcents: balance, debt_microcents: debt }: Balance): number => balance - debt

/** Call it before the browser leaves for the checkout. */
export const rememberFunds = (balance: Balance): void =>
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

/** How long until the balance is loaded again. */
export const checkoutRefreshMs = (balance: Balance): number | undefined =>
  resultOf(balance) === "pending" ? REFRESH_MS : undefined

export const CheckoutResult = ({ balance }: { readonly balance: Balance }): View | null => {
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
