/**
 * What a quote or a call from a tool's page resulted in.
 */
import type { ComponentChildren } from "preact"
import { Notice } from "../console/Badge.browser.ts"
import { h, type View } from "../console/View.browser.ts"
import type { ApiError } from "../kit/ApiRequest.browser.ts"
import type { CallResult, Quote } from "../kit/ApiResponses.browser.ts"
import { milliseconds, money, plural } from "../kit/Format.browser.ts"
import type { Schema } from "./ArgumentFields.browser.ts"
import { ReceiptButton } from "./ReceiptButton.browser.ts"

const freeCalls = (left: number | null): string =>
  left === null ? "" : `${plural(left, "free call")} remaining this month. `

export interface QuoteViewProps {
  readonly quote: Quote["quote"]
  /** What a call costs at most. */
  readonly maximum: number
}

export const QuoteView = ({ maximum, quote }: QuoteViewProps): View => {
  const { cost_microcents: cost, free_tier_remaining: free } = quote
  const isFree = cost === 0 && quote.hold_microcents === 0
  return h(
    Notice,
    { style: quote.sufficient_funds ? "good" : "bad" },
    h(
      "p",
      null,
      isFree
        ? "This call is free. "
        : `This call costs ${money(cost)}${maximum > cost ? `, up to ${money(maximum)}` : ""}. `,
      freeCalls(free),
      quote.sufficient_funds
        ? `Balance after the call: ${money(quote.balance_after_microcents)}.`
        : [
            `Insufficient balance: ${money(quote.balance_microcents)} is available. `,
            h("a", { href: "/developer/funds" }, "Add funds")
          ]
    )
  )
}

export const ResultView = ({ meta, result }: CallResult): View => {
  const isSuccess = meta.outcome === "success"
  return h(
    "div",
    null,
    h(
      Notice,
      { style: isSuccess ? "good" : "bad" },
      h(
        "p",
        null,
        isSuccess ? `Succeeded in ${milliseconds(meta.latency_ms)}. ` : "The tool returned an error. ",
        `Cost: ${money(meta.cost_microcents)}. Balance: ${money(meta.remaining_balance_microcents)}. `,
        freeCalls(meta.free_tier_remaining),
        h(ReceiptButton, { id: meta.receipt_id })
      )
    ),
    contentView(result)
  )
}

/** A failed call with a receipt. */
export const FailedView = ({ error }: { readonly error: ApiError }): View =>
  h(
    Notice,
    { style: "bad" },
    h(
      "p",
      null,
      `${error.message} Cost: ${money(Number(error.body["cost_microcents"]))}. `,
      h(ReceiptButton, { id: String(error.body["receipt_id"]) })
    )
  )

const contentView = (result: Schema): ComponentChildren => {
  const content = Array.isArray(result["content"]) ? (result["content"] as ReadonlyArray<Schema>) : []
  const texts = content.flatMap((part) =>
    part["type"] === "text" && typeof part["text"] === "string" ? [part["text"]] : []
  )
  const json = pre("Result as JSON", JSON.stringify(result, null, 2))
  return texts.length === 0
    ? json
    : [texts.map((text) => pre("Result", text)), h("details", null, h("summary", null, "Result as JSON"), json)]
}

const pre = (label: string, text: string): View =>
  h("pre", { class: "result", tabIndex: 0, role: "group", "aria-label": label }, h("code", null, text))
