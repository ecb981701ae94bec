/**
 * The pages that the operator publishes: terms, privacy and fees. Without a text of the operator, the page says so.
 */
import { Context } from "effect"
import { feePercent } from "../../../domain/ledger/PlatformFee.ts"

export const OPERATOR_PAGES = ["terms", "privacy", "fees"] as const
export type OperatorPage = (typeof OPERATOR_PAGES)[number]

/** The operator's Markdown, by page. */
export const OperatorTexts = Context.Reference<ReadonlyMap<OperatorPage, string>>(
  "agent-tool-billing/adapters/site/OperatorTexts",
  { defaultValue: () => new Map() }
)

/** Of one text, so that its page stays small. */
export const OPERATOR_TEXT_BYTES_MAX = 32_768

export const operatorPageNames: Readonly<Record<OperatorPage, { readonly title: string; readonly summary: string }>> = {
  terms: { title: "Terms", summary: "The operator's terms of service." },
  privacy: { title: "Privacy", summary: "The operator's privacy policy." },
  fees: { title: "Fees", summary: "What the operator charges." }
}

/** `feeBasisPoints`: the platform fee of providers without a fee of their own. */
export const unpublished = (page: OperatorPage, feeBasisPoints: number): string =>
  ({
    terms: "# Terms\n\nThe operator of this service has not published terms yet.\n",
    privacy:
      "# Privacy\n\nThe operator of this service has not published a privacy policy yet.\n\n" +
      "[Retention and erasure](/docs/retention) says which personal data the service stores, and for how long.\n",
    fees:
      "# Fees\n\nThe operator of this service has not published its fees yet.\n\n" +
      `The platform fee is ${feePercent(feeBasisPoints)} of what a call costs, unless the operator has set another fee for a ` +
      "provider. It is part of the price. [List prices](/docs/api/catalog/pricing) returns the fee of each tool.\n"
  })[page]
