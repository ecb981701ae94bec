/**
 * Labels for tools, prices and providers.
 */
import type { CatalogTool, ToolDetails } from "../../http/catalog/CatalogApi.ts"
import { type Html, html } from "../kit/Html.ts"

type Provider = CatalogTool["provider"]

const LEVELS: Readonly<Record<Provider["verification_level"], readonly [label: string, style: string]>> = {
  unverified: ["Not verified", ""],
  email: ["Email verified", "info"],
  domain: ["Domain verified", "good"],
  code: ["Source verified", "good"]
}

const BADGES: Readonly<Record<Provider["badge"], readonly [label: string, style: string]>> = {
  unrated: ["Not rated", ""],
  basic: ["Basic", ""],
  trusted: ["Trusted", "info"],
  verified: ["Verified", "good"]
}

export const badges = ({ badge, trust_score: score, verification_level: level }: Provider): Html => {
  const [rating, ratingStyle] = BADGES[badge]
  const [verification, verificationStyle] = LEVELS[level]
  return html`<span class="badge ${ratingStyle}"
      >${rating}${score === null || badge === "unrated" ? "" : ` · ${score}`}</span
    >
    <span class="badge ${verificationStyle}">${verification}</span>`
}

export const count = (value: number): string => value.toLocaleString("en-US")

export const plural = (value: number, one: string, many = `${one}s`): string =>
  `${count(value)} ${value === 1 ? one : many}`

export const milliseconds = (value: number | null): string =>
  value === null ? "–" : value < 1_000 ? `${Math.round(value)} ms` : `${(value / 1_000).toFixed(1)} s`

export const percent = (value: number | null): string =>
  value === null ? "–" : value === 100 ? "100%" : `${value.toFixed(2)}%`

/** Free tools have none. */
export const priceUnit = ({ max_cost_microcents: maximum, model }: CatalogTool["pricing"]): string =>
  maximum === 0n ? "" : model === "per_token" ? "per call, by tokens" : "per call"

export const BILLING_POLICIES: Readonly<Record<ToolDetails["billing_policy"], readonly [label: string, text: string]>> =
  {
    success: ["On success", "Failed, rejected and timed-out calls are free."],
    valid_output: ["On valid output", "Calls are free unless they succeed and the result matches the output schema."],
    attempt: ["Per attempt", "Every call that reaches the provider is charged."]
  }

type Cancellation = Pick<ToolDetails, "canceled_call_costs" | "on_cancel">

export const canceledCost = ({ canceled_call_costs: costs, on_cancel: onCancel }: Cancellation): string =>
  onCancel === "finish" ? "By outcome" : costs === "price" ? "Full price" : "Free"

export const canceledCalls = (cancellation: Cancellation): string =>
  cancellation.on_cancel === "finish"
    ? "Forwarded calls always complete and are billed by their outcome, even if you disconnect."
    : `Cancellations are passed to the provider. A canceled call ${cancellation.canceled_call_costs === "price" ? "costs its full price" : "is free"}.`
