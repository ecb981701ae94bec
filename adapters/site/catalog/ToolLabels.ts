/**
 * What pages say of a tool and of whoever offers it: numbers and standings as people write them.
 */
import type { CatalogTool, ToolDetails } from "../../http/api/CatalogTool.ts"
import { type Html, html } from "../kit/Html.ts"

type Provider = CatalogTool["provider"]

const LEVELS: Readonly<Record<Provider["verification_level"], readonly [text: string, kind: string, meaning: string]>> =
  {
    unverified: ["Not verified", "", "It has proven nothing about itself yet."],
    email: ["E-mail proven", "info", "Its e-mail address is proven."],
    domain: ["Domain proven", "good", "The domain of its endpoint is proven."],
    code: ["Source proven", "good", "Its source repository is proven."]
  }

const BADGES: Readonly<Record<Provider["badge"], readonly [text: string, kind: string]>> = {
  unrated: ["Not rated yet", ""],
  basic: ["Basic", ""],
  trusted: ["Trusted", "info"],
  verified: ["Verified", "good"]
}

export const levelMeaning = ({ verification_level: level }: Provider): string => LEVELS[level][2]

export const badges = ({ badge, trust_score: score, verification_level: level }: Provider): Html => {
  const [rating, ratingKind] = BADGES[badge]
  const [proof, proofKind] = LEVELS[level]
  return html`<span class="badge ${ratingKind}"
      >${rating}${score === null || badge === "unrated" ? "" : ` · ${score}`}</span
    >
    <span class="badge ${proofKind}">${proof}</span>`
}

export const count = (value: number): string => value.toLocaleString("en-US")

export const plural = (value: number, one: string, many = `${one}s`): string =>
  `${count(value)} ${value === 1 ? one : many}`

export const milliseconds = (value: number | null): string =>
  value === null ? "–" : value < 1_000 ? `${Math.round(value)} ms` : `${(value / 1_000).toFixed(1)} s`

export const percent = (value: number | null): string => (value === null ? "–" : `${value.toFixed(2)} %`)

export const freeCalls = (calls: number): string => (calls === 0 ? "None" : plural(calls, "call"))

/** Where it differs from tool to tool, by what the provider charges. */
export const priceUnit = ({ max_cost_microcents: maximum, model }: CatalogTool["pricing"]): string =>
  maximum === 0n ? "" : model === "per_token" ? "a call, by tokens used" : "a call"

export const POLICIES: Readonly<Record<ToolDetails["billing_policy"], readonly [name: string, meaning: string]>> = {
  success: ["On success", "A call that fails, is refused or does not answer in time costs nothing."],
  valid_output: [
    "On a result that fits",
    "A call costs something only if it succeeds and its result fits the output schema below."
  ],
  attempt: ["For every attempt", "A call that reached the provider costs its price, whatever came of it."]
}

type Cancellation = Pick<ToolDetails, "canceled_call_costs" | "on_cancel">

/** What a caller pays that cancels a forwarded call, or disconnects: in short, for tables. */
export const canceledCost = ({ canceled_call_costs: costs, on_cancel: onCancel }: Cancellation): string =>
  onCancel === "finish" ? "By outcome" : costs === "price" ? "Its price" : "Nothing"

export const canceledCalls = ({ canceled_call_costs: costs, on_cancel: onCancel }: Cancellation): string => {
  if (onCancel === "finish")
    return "A forwarded call runs to its end and is billed by its outcome, even if you disconnect."
  return costs === "price"
    ? "A cancellation is passed to the provider. A forwarded call that you cancel costs its price."
    : "A cancellation is passed to the provider. A forwarded call that you cancel costs nothing."
}
