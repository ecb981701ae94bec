/**
 * Specification of money: amounts, fee, holds, billing and payouts.
 */
import { FREE_TIER_CALLS_MAX } from "../../../domain/catalog/Terms.ts"
import type { BillingPolicy } from "../../../domain/catalog/Tool.ts"
import { PAYOUT_CENTS_MIN } from "../../../domain/earnings/PayoutOpening.ts"
import type { PayoutState } from "../../../domain/earnings/PayoutStore.ts"
import { BudgetPeriod } from "../../../domain/ledger/Budgets.ts"
import { feeOf, feePercent } from "../../../domain/ledger/PlatformFee.ts"
import { MAX_COST_FIELD, REPORTED_COST_FIELD } from "../../../domain/metering/CallTerms.ts"
import { LOAD_CENTS_MAX, LOAD_CENTS_MIN } from "../../../domain/payments/Loads.ts"
import {
  formatDollars,
  fromCents,
  MICROCENTS_PER_CENT,
  MICROCENTS_PER_DOLLAR
} from "../../../domain/shared/Microcents.ts"
import { REPORTED_COST_META } from "../../../domain/upstream/Protocol.ts"
import {
  code,
  codeList,
  definitions,
  formatNumber,
  heading,
  list,
  numbered,
  paragraph,
  type SpecSection,
  table
} from "./SpecMarkup.ts"

const POLICIES: Readonly<Record<BillingPolicy, string>> = {
  success: "Calls with status `success` are charged. The default.",
  valid_output: "As `success`, and only if the result's `structuredContent` matches the tool's `output_schema`.",
  attempt: "Every call that reaches the provider is charged."
}

const PAYOUT_STATES: Readonly<Record<PayoutState, string>> = {
  requested: "The amount is reserved.",
  transferring: "The transfer was requested from the payment processor.",
  paid: "The transfer was made.",
  failed: "The transfer was not made; the amount is back in the pending balance.",
  reversed: "The payment processor reversed the transfer, in whole or in part."
}

const FEE_EXAMPLES = [1n, 4n, 5n, 14n, 15n, 500n, 1_000_000n]

interface MoneyFacts {
  readonly freeCalls: number
  readonly feeBasisPoints: number
}

export const moneySection = ({ feeBasisPoints, freeCalls }: MoneyFacts): SpecSection => ({
  id: "money",
  title: "Money",
  body: [
    paragraph(
      `Amounts are integers in microcents, in fields that end in \`_microcents\`: 1 cent is ${formatNumber(MICROCENTS_PER_CENT)},`,
      `1 US dollar ${formatNumber(MICROCENTS_PER_DOLLAR)}. JSON integers above 2^53 − 1 are rejected, also in a tool's input.`,
      "Fields that end in `_cents` and strings such as `$12.34` are for display, rounded toward zero."
    ),
    heading("Platform fee"),
    paragraph(
      `The fee is a share of the billed amount in basis points (1/100 of a percent), rounded half up to a microcent, and at least 1 microcent unless the share is 0; the provider receives the rest.`,
      "The consumer's debit equals the provider's credit plus the fee, call by call."
    ),
    code(
      "fee = max(1, floor((amount × basis_points + 5,000) / 10,000)) if amount and basis_points are above 0, else 0"
    ),
    paragraph(
      `The default fee is ${feePercent(feeBasisPoints)} (${formatNumber(feeBasisPoints)} basis points). The operator may set another fee for a provider: a lower fee applies to new calls at once, a higher one after the notice period of prices.`,
      "The fee in effect when a call is held is recorded on the call. Its settlement, refunds and statements use the recorded fee. `GET /api/v1/market/pricing` returns the fee of each tool's provider."
    ),
    table(
      "Examples in microcents, by the default fee",
      ["Billed", "Fee", "Provider"],
      FEE_EXAMPLES.map((amount) => {
        const fee = feeOf(amount, feeBasisPoints)
        return [amount, fee, amount - fee].map(formatNumber)
      })
    ),
    heading("Processing of a call"),
    numbered([
      "Authenticate the key, apply the rate limit, look up the tool and its price.",
      "Reject a `price_version` that is not in effect, or a cost limit below the list price, with 409 `PRICE_CHANGED`; a usage-priced call without a cost limit with 422 `CAP_REQUIRED`.",
      "Validate the input against the tool's `input_schema`: 422.",
      "Hold the price against the balance and every applicable budget: 402 if one of them is insufficient.",
      "Forward the call to the provider.",
      "Settle the hold at the billed amount and release the rest. Transfers, receipt and usage are written in the same transaction.",
      "Respond to the caller."
    ]),
    list(
      "A tool whose maximum is above its price is usage-priced: the provider reports the cost of each call, up to the maximum. Its price is shown as `up to` the maximum, and the catalog sorts and filters by the maximum. A tool is free if its price and maximum are 0.",
      "The hold is the price; for a usage-priced tool, the cost limit or the maximum, whichever is lower. The cost limit is the lower one of `max_cost_microcents` of the body and the header `X-Max-Cost-Microcents`; if neither is sent, `default_cap_microcents` of the key, else of the account. Defaults apply to usage-priced tools only. Quotes need no cost limit.",
      `Providers receive the cost limit of a usage-priced call in the header \`X-Market-Max-Cost-Microcents\` and in \`_meta\` as \`${MAX_COST_FIELD}\`, which the signature covers.`,
      "A balance is never negative, at any concurrency.",
      "If the process of a call dies, the call is closed after its deadline with status `error` and cost 0, and its hold is released.",
      "A tool's own error (a result with `isError`) is a response: 200 with the provider's result, `meta.outcome: \"error\"` and a receipt with status `error`, billed by the tool's policy. A provider failure (a JSON-RPC error, an HTTP error, a network error or an unreadable response) is 502 `PROVIDER_ERROR`; a timeout is 504 `PROXY_TIMEOUT`.",
      "`dry_run: true` returns a quote. The provider is not called, and no hold is created.",
      "A caller that accepts `text/event-stream` may receive a stream: `progress` events (`progress`, and `total` and `message` if the provider sends them), then one `result` or `problem` event with the body of the response. A stream starts with the first `progress` event; without one, the response and its replays are not streamed. Progress is free, and long messages are truncated."
    ),
    heading("Billing"),
    definitions("Billing policies", "Policy", POLICIES),
    list(
      `A provider may report the cost of a call as the integer \`${REPORTED_COST_META}\` or \`${REPORTED_COST_FIELD}\` in the \`_meta\` of its result. The billed amount is the reported cost, at most the hold; without a report, the list price.`,
      "The price of a call is the tool's price, else the provider's default, else 0. Price, maximum, free tier, billing policy and the cost of canceled calls form a price version; invoice lines name it.",
      "Terms are everything that decides what is charged: price, maximum, free tier, billing policy, cost of canceled calls, and under `valid_output` the output schema. Any change of that schema, except of titles, descriptions and comments, counts as charging more. Changes in favor of consumers take effect immediately. Changes that charge more are announced as `upcoming` and take effect after the notice period (24 hours by default); a smaller free tier, in the first month (UTC) after it. A later change replaces an upcoming one. Withdrawing a tool cancels upcoming changes; listing it again continues its price history.",
      "A call that names a `price_version` is charged under that version or rejected.",
      `Free calls apply per consumer and calendar month (UTC): at most ${formatNumber(FREE_TIER_CALLS_MAX)} per tool, ${formatNumber(freeCalls)} by default. Unsuccessful calls do not use them.`,
      `Budgets limit a consumer's spending (${codeList(BudgetPeriod.literals)}, UTC calendar). 402 \`BUDGET_EXCEEDED\` names the budget.`
    ),
    heading("Loads and payouts"),
    list(
      `A load is ${formatDollars(fromCents(LOAD_CENTS_MIN))} to ${formatDollars(fromCents(LOAD_CENTS_MAX))}, in whole cents. It is credited once, when the payment processor confirms the payment.`,
      `A payout transfers all available whole cents, from ${formatDollars(fromCents(PAYOUT_CENTS_MIN))}; below that, 422 \`BELOW_MINIMUM\`. Concurrent requests pay once.`
    ),
    definitions("Payout states", "State", PAYOUT_STATES),
    paragraph("Every movement is a double-entry transfer. `GET /api/v1/market/ledger/trial-balance` is public.")
  ]
})
