/**
 * The specification of money: the unit, the fee, what is held, what is billed and when, and how providers are paid.
 */
import { FREE_TIER_CALLS_MAX } from "../../../domain/catalog/Pricing.ts"
import type { BillingPolicy } from "../../../domain/catalog/Tool.ts"
import { BudgetPeriod } from "../../../domain/ledger/BudgetPeriod.ts"
import { MAX_COST_FIELD, REPORTED_COST_FIELD } from "../../../domain/metering/Billing.ts"
import { LOAD_CENTS_MAX, LOAD_CENTS_MIN } from "../../../domain/payments/Loads.ts"
import { PAYOUT_CENTS_MIN } from "../../../domain/payouts/Payouts.ts"
import { PayoutState } from "../../../domain/payouts/PayoutStore.ts"
import {
  feeOf,
  formatDollars,
  fromCents,
  MICROCENTS_PER_CENT,
  MICROCENTS_PER_DOLLAR,
  PLATFORM_FEE_BPS
} from "../../../domain/shared/Microcents.ts"
import { codes, figure, heading, listing, ordered, points, said, type SpecPart, text } from "./SpecParts.ts"

const POLICIES: Readonly<Record<BillingPolicy, string>> = {
  success: "A call costs money when its status is `success`. This holds where the tool says nothing.",
  valid_output: "As `success`, and only when the result's `structuredContent` fits the tool's `output_schema`.",
  attempt: "A call costs money as soon as it reached the provider, whatever came back."
}

const STATES: Readonly<Record<PayoutState, string>> = {
  requested: "The money is reserved; the processor has not heard of it yet.",
  transferring: "The processor was asked for the transfer.",
  paid: "The transfer was made.",
  failed: "It was not made; the money is back in the pending balance.",
  reversed: "The processor took it back after it had been paid, wholly or in part."
}

const FEES = [1n, 4n, 5n, 14n, 15n, 500n, 1_000_000n].map((amount) => ({ amount, fee: feeOf(amount) }))

export const moneyPart = (freeCallsByDefault: number): SpecPart => ({
  id: "money",
  title: "Money",
  body: [
    said(
      `Amounts are whole numbers of microcents, in fields that end in \`_microcents\`: 1 cent is ${figure(MICROCENTS_PER_CENT)},`,
      `1 US dollar ${figure(MICROCENTS_PER_DOLLAR)}. A JSON integer above 2^53 − 1 is refused, in a tool's input too, and never sent.`,
      "Fields that end in `_cents` and texts such as `$12.34` are for people, rounded toward zero."
    ),
    heading("The fee"),
    said(
      `The platform keeps ${PLATFORM_FEE_BPS / 100n} % of what is billed, rounded half up to a microcent, at least 1 microcent of anything above 0; the provider gets the rest.`,
      "The consumer's debit is the provider's credit plus the fee, exactly, call by call."
    ),
    text("fee = max(1, floor((amount × 1,000 + 5,000) / 10,000)) for an amount above 0, else 0"),
    listing(
      "Examples in microcents",
      ["Billed", "Fee", "Provider"],
      FEES.map(({ amount, fee }) => [figure(amount), figure(fee), figure(amount - fee)])
    ),
    heading("A call, in order"),
    ordered([
      "The key is authenticated, the rate limit counted, the tool and its price looked up.",
      "A `price_version` that is not in effect, or a cap below the list price: 409 `PRICE_CHANGED`. A usage-priced call without a cap: 422 `CAP_REQUIRED`.",
      "The input is checked against the tool's `input_schema`: 422 where it does not fit. Nothing was charged up to here.",
      "The price is held against the balance and every budget that applies: 402 where it does not fit, and nothing is forwarded.",
      "The call is forwarded to the provider.",
      "The hold becomes the cost, or is given back; transfers, receipt and usage are written in one transaction.",
      "Only then the caller is answered."
    ]),
    points(
      "A tool with a maximum above its price is usage-priced: its provider reports what each call cost, up to the maximum. It reads `up to` that maximum wherever prices are shown, and the catalog sorts and filters by it. *Free* is a tool whose price and maximum are both 0.",
      "Held is the price; of a usage-priced tool the caller's cap, or the maximum where that is lower. The cap is `max_cost_microcents` of the body, else the header `X-Max-Cost-Microcents`, else `default_cap_microcents` of the key, else of the account. Defaults count for usage-priced tools only. A quote needs no cap.",
      `The provider is told the cap of a usage-priced call: in the header \`X-Market-Max-Cost-Microcents\`, and in \`_meta\`, as \`${MAX_COST_FIELD}\`, which the signature covers.`,
      "A balance never goes below zero, at any concurrency.",
      "A call whose process died is ended after its deadline: its receipt says `error`, its cost is 0, the hold is given back.",
      "A tool's own error (a result with `isError`) is an answer: 200 with the provider's result, `meta.outcome: \"error\"`, and a receipt that says `error`; it costs what the billing policy says. A provider that fails as a server (a JSON-RPC error, an HTTP error, a network fault, an answer that cannot be read) is 502 `PROVIDER_ERROR`; no answer in time is 504 `PROXY_TIMEOUT`.",
      "`dry_run: true` answers the quote; nobody is called, nothing is held.",
      "A caller whose `Accept` names `text/event-stream` may be answered by one: 200, a `progress` event (`progress`, and `total` and `message` where the provider gives them) as often as the provider says how far it is, and last one `result` or `problem` with the body that the answer would have had. A stream begins with the first `progress`; where none comes before the answer, the answer is the usual one, and so is a replay of it. Progress is not paid for: words of it that are longer than a line are cut off."
    ),
    heading("What is billed"),
    listing(
      "Billing policies, published with every tool",
      ["Policy", "Meaning"],
      Object.entries(POLICIES).map(([name, meaning]) => [`\`${name}\``, meaning])
    ),
    points(
      `A provider may report what a call cost in its result's \`_meta\`, as the integer \`${REPORTED_COST_FIELD}\`; billed is the smaller of that and what was held. Without it the list price is billed.`,
      "The price of a call is the tool's own, else the provider's default, else 0. Price, maximum, free tier, billing policy and what a canceled call costs together are a price version; a receipt names the one that it was billed at.",
      "A change that is better for consumers takes effect at once. One that charges them more in any case is announced as `upcoming` and takes effect after the notice period: 24 hours, unless the operator set another; a smaller free tier with the first month (UTC) that begins after it. What is better in the same change does not wait. Another change replaces an upcoming one. Withdrawing a tool cancels what is upcoming, and listing it again continues its history.",
      "A call that names a `price_version` is charged under that version or not at all.",
      `A tool may have free calls a consumer and calendar month (UTC), at most ${figure(FREE_TIER_CALLS_MAX)}; ${figure(freeCallsByDefault)} where the provider set none. A free call costs 0. A call that did not succeed uses none up.`,
      `A consumer may cap its spending with budgets (${codes(BudgetPeriod.literals)}, by the calendar of UTC): 402 \`BUDGET_EXCEEDED\` names the one that stands in the way.`
    ),
    heading("In and out"),
    points(
      `A load is ${formatDollars(fromCents(LOAD_CENTS_MIN))} to ${formatDollars(fromCents(LOAD_CENTS_MAX))}, in whole cents, credited once, when the processor says that it is paid.`,
      `A payout is all whole cents of the pending balance, from ${formatDollars(fromCents(PAYOUT_CENTS_MIN))}; below that 422 \`BELOW_MINIMUM\`. Two at once pay once.`
    ),
    listing(
      "States of a payout",
      ["State", "Meaning"],
      PayoutState.literals.map((state) => [`\`${state}\``, STATES[state]])
    ),
    said(
      "Every movement is a transfer from one account to another, so the books cannot be out of balance:",
      "`GET /api/v1/market/ledger/trial-balance` shows them to everybody."
    )
  ]
})

export const policyNames = Object.keys(POLICIES)
