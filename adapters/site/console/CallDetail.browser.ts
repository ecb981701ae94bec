/**
 * One call: outcome, cost and why it costs that, receipt and proof.
 */
import type { ComponentChildren } from "preact"
import { request } from "../kit/ApiRequest.browser.ts"
import type { CallDetails, ReceiptResponse, ToolDetails } from "../kit/ApiResponses.browser.ts"
import { milliseconds, money } from "../kit/Format.browser.ts"
import { OUTCOMES } from "./CallColumns.browser.ts"
import { type ConsoleApi, useConsole } from "./ConsoleContext.browser.ts"
import { pathTo } from "./Place.browser.ts"
import { ReceiptCheck, SignatureNotice } from "./ReceiptCheck.browser.ts"
import { loaded, useResource } from "./Resource.browser.ts"
import { CopyValue, facts, h, statusBadge, TimeText } from "./View.browser.ts"

export type Receipt = ReceiptResponse["receipt"]

interface CallDetailProps {
  readonly id: string
  /** Shows the reader's actions on this call, such as a dispute. */
  readonly actions?: (receipt: Receipt) => ComponentChildren
}

export const CallDetail = ({ actions, id }: CallDetailProps): ComponentChildren => {
  const { api } = useConsole()
  const call = useResource(() => readCall(api, id), [id])
  return [
    h("a", { href: pathTo("calls"), class: "back" }, "← All calls"),
    loaded(call, ({ details, tool, response: { receipt, verification } }) => [
      facts([
        ["Tool", h("a", { href: `/catalog/${receipt.tool_id}` }, receipt.tool_name)],
        ["Provider", tool === undefined ? undefined : tool.provider.name],
        ["Time", h(TimeText, { at: receipt.timestamp, isPrecise: true })],
        ["Outcome", statusBadge(OUTCOMES, receipt.status)],
        ["Cost", h("strong", null, money(receipt.cost_microcents))],
        ["Receipt ID", h(CopyValue, { name: "receipt ID", text: receipt.receipt_id })],
        [
          "Request ID",
          typeof details?.request_id === "string"
            ? h(CopyValue, { name: "request ID", text: details.request_id })
            : undefined
        ]
      ]),
      h("h2", null, "Timing"),
      facts(timingOf(receipt, details)),
      h("h2", null, "Price"),
      priceOf(receipt, details, tool).map((sentence) => h("p", { key: sentence }, sentence)),
      actions?.(receipt),
      h("h2", null, "Receipt"),
      h(SignatureNotice, verification),
      h(ReceiptCheck, { receipt }),
      h(
        "details",
        { class: "receipt-fields" },
        h("summary", null, "All fields"),
        facts(Object.entries(receipt).map(([name, value]) => [name, h("code", null, String(value))] as const))
      )
    ])
  ]
}

interface CallRead {
  readonly response: ReceiptResponse
  /** Undefined for a reader who has the receipt, and is neither the caller nor the provider. */
  readonly details: CallDetails | undefined
  /** Undefined where the tool is no longer public. */
  readonly tool: ToolDetails | undefined
}

const readCall = async (api: ConsoleApi, id: string): Promise<CallRead> => {
  const path = `/api/v1/market/receipts/${encodeURIComponent(id)}`
  const details = api.get<CallDetails>(`${path}/call`).catch(() => undefined)
  const response = await request<ReceiptResponse>("GET", path)
  const tool = await request<ToolDetails>("GET", `/api/v1/market/tools/${response.receipt.tool_id}`).catch(
    () => undefined
  )
  return { response, details: await details, tool }
}

type Timing = ReadonlyArray<readonly [name: string, value: string]>

/** The stages that the service measured. The settlement stores them, so it cannot store its own duration. */
const timingOf = ({ duration_ms: providerMs }: Receipt, details: CallDetails | undefined): Timing => {
  const provider = ["Provider", milliseconds(providerMs)] as const
  if (details === undefined) return [provider]
  const { hold_ms: holdMs, signed_after_ms: signedMs } = details.stages
  if (holdMs === null || signedMs === null || providerMs === null)
    return [["Provider, as reported", milliseconds(providerMs)]]
  return [
    ["Hold: price reserved", milliseconds(holdMs)],
    provider,
    ["Checks and waiting for input", milliseconds(Math.max(0, signedMs - holdMs - providerMs))],
    ["Settlement", "Not measured: it stores these figures"]
  ]
}

const CAUSES = {
  input_rejected: "The provider rejected the arguments, or the client lacks a capability.",
  canceled: "The caller or the service ended the call, not its provider."
} as const

const FAILURES = {
  success: "",
  error: "The tool or its provider returned an error.",
  timeout: "The provider did not respond in time.",
  rate_limited: "The provider rejected the call because of its rate limit."
} as const

/** The reasons why a successful call of a tool that has a price can cost nothing. */
const UNCHARGED = {
  success: "This call was not charged: it was one of your free calls of the month.",
  attempt: "This call was not charged: it was one of your free calls of the month.",
  valid_output:
    "This call was not charged: it was one of your free calls of the month, or its output did not match the tool's output schema.",
  usage:
    "This call was not charged: it was one of your free calls of the month, or the provider reported a cost of $0.00."
} as const

/** Says why the call costs what it costs. */
const priceOf = (
  { cost_microcents: cost, status, timestamp }: Receipt,
  details: CallDetails | undefined,
  tool: ToolDetails | undefined
) => {
  const cause = details?.cause ?? undefined
  const failure = cause === undefined ? FAILURES[status] : CAUSES[cause]
  const outcome = failure === "" ? [] : [failure]
  const terms = tool?.price_history.find(({ effective_from: from }) => from <= timestamp)
  if (terms === undefined)
    return [...outcome, cost === 0 ? "This call was not charged." : `This call cost ${money(cost)}.`]
  const list = `The list price at that time was ${terms.price} (version ${terms.version}).`
  if (cost === 0 && status !== "success") return [...outcome, "Failed calls of this tool are not charged.", list]
  if (cost === 0) {
    return [
      terms.price_microcents === 0
        ? "This tool is free."
        : UNCHARGED[terms.usage_priced ? "usage" : terms.billing_policy],
      list
    ]
  }
  if (terms.usage_priced && cost !== terms.price_microcents) {
    return [
      ...outcome,
      `The provider reported a cost of ${money(cost)}, within the maximum of the tool and of your cap.`,
      list
    ]
  }
  const policy = terms.billing_policy === "attempt" ? "This tool charges for every attempt." : undefined
  return [...outcome, `This call cost ${money(cost)}.`, ...(policy === undefined ? [] : [policy]), list]
}
