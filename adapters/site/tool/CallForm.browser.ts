/**
 * The form that calls a tool: get a quote, call, or copy the request as a curl command. Calls name the page's price, so a
 * call never costs more than shown.
 */
import { accountApi } from "../kit/AccountApi.browser.ts"
import { ApiError, request } from "../kit/ApiRequest.browser.ts"
import {
  type Argument,
  argumentFields,
  jsonArgument,
  previewInput,
  readInput,
  type Schema,
  withFieldErrors
} from "../kit/ArgumentFields.browser.ts"
import { codeBlock, curl } from "../kit/CodeBlock.browser.ts"
import { button, el, fill, notice, on } from "../kit/Dom.browser.ts"
import { milliseconds, money, plural } from "../kit/Format.browser.ts"
import { form, type Values, valuesOf } from "../kit/Form.browser.ts"
import { receiptButton } from "../kit/ReceiptDialog.browser.ts"
import type { CallResult, FreeTiers, Quote, ToolDetails } from "../kit/ApiResponses.browser.ts"
import { showToolboxButtons } from "../kit/ToolboxButtons.browser.ts"
import { signIn, signOutButton, storedKey } from "../kit/Session.browser.ts"

const FORM = "arguments"
const PATH = "/api/market/proxy"

export const callForm = (place: HTMLElement, tool: ToolDetails, sample: Schema): void => {
  const asFields = argumentFields(tool.input_schema)
  const fields = el("div")
  const shell = el("div")
  const account = el("div", { id: "account" })
  const outcome = el("div", { id: "outcome", "aria-live": "polite" })
  /** Undefined until the account is known. */
  let freeCalls: number | undefined = tool.pricing.free_tier_calls === 0 ? 0 : undefined
  const relabel = (left: number | undefined) => {
    freeCalls = left
    const label = callLabel(tool, left)
    fields.querySelectorAll(`#${FORM} .actions button[type=button]`).forEach((one) => fill(one, label))
  }
  const show = (all: ReadonlyArray<Argument>): void => {
    const made = formOf(tool, all, outcome, account, relabel)
    const update = () => {
      const body = { tool_name: tool.qualified_name, input: previewInput(all, valuesOf(made), sample) }
      fill(shell, codeBlock(curl(PATH, "$CONSUMER_KEY", body)))
    }
    on(made, { input: update, change: update })
    fill(
      fields,
      all.length === 0 ? el("p", "This tool takes no arguments.") : undefined,
      made,
      modeSwitch(asFields, all, made, show)
    )
    update()
    relabel(freeCalls)
  }
  show(asFields)
  fill(place, fields, outcome, account, el("h3", "curl"), shell)
  place.classList.add("keyless")
  void signIn(
    account,
    "consumer",
    ({ name }) => {
      place.classList.remove("keyless")
      void showToolboxButtons()
      // Without the number the label names no price; the quote does.
      if (tool.pricing.free_tier_calls > 0) void freeCallsLeft(tool).then(relabel, () => undefined)
      fill(
        account,
        el(
          "p",
          { class: "toolbar small muted" },
          el("span", "Billed to ", el("strong", String(name)), "."),
          signOutButton("consumer")
        )
      )
    },
    "Use this key"
  )
}

/** Switches between fields and JSON, for input that the fields cannot express. */
const modeSwitch = (
  asFields: ReadonlyArray<Argument>,
  shown: ReadonlyArray<Argument>,
  made: HTMLFormElement,
  show: (all: ReadonlyArray<Argument>) => void
): HTMLElement | undefined => {
  if (!asFields.some(({ property }) => property !== undefined)) return undefined
  const isFields = shown === asFields
  const change = () => {
    show(isFields ? [jsonArgument(previewInput(asFields, valuesOf(made), {}))] : asFields)
    document.querySelector<HTMLElement>(`#${FORM} input, #${FORM} textarea, #${FORM} select`)?.focus()
  }
  return el("p", button(isFields ? "Edit as JSON" : "Edit as fields", change, "plain tiny"))
}

const freeCallsLeft = async ({ id, pricing }: ToolDetails): Promise<number> => {
  const { free_tiers: tiers } = await accountApi("consumer").get<FreeTiers>("/api/v1/market/free-tiers")
  return tiers.find(({ tool_id }) => tool_id === id)?.left ?? pricing.free_tier_calls
}

const callLabel = ({ pricing }: ToolDetails, freeCalls: number | undefined): string => {
  if (pricing.max_cost_microcents === 0 || freeCalls === undefined) return "Call tool"
  return freeCalls > 0 ? "Call tool for free" : `Call tool for ${pricing.price}`
}

const formOf = (
  tool: ToolDetails,
  all: ReadonlyArray<Argument>,
  outcome: HTMLElement,
  account: HTMLElement,
  relabel: (freeCalls: number) => void
) => {
  const { max_cost_microcents, price_version } = tool.pricing
  const send = async <A>(values: Values, options: object, show: (answer: A) => Node, idempotencyKey?: string) => {
    const key = storedKey("consumer")
    if (key === undefined) {
      account.querySelector("input")?.focus()
      throw new Error("Enter your developer key to call this tool.")
    }
    fill(outcome)
    const body = { tool_id: tool.id, input: readInput(all, values), ...options }
    try {
      fill(outcome, show(await request<A>("POST", PATH, { key, body, idempotencyKey })))
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      // A failed call with a receipt was forwarded.
      if (typeof error.body["receipt_id"] !== "string") throw withFieldErrors(all, error)
      fill(outcome, failedView(error))
    }
  }
  return form({
    id: FORM,
    fields: all.map(({ field }) => field),
    submit: "Get quote",
    send: (values) => send<Quote>(values, { dry_run: true }, ({ quote }) => quoteView(quote, max_cost_microcents)),
    secondAction: {
      label: callLabel(tool, undefined),
      send: (values, idempotencyKey) =>
        send<CallResult>(
          values,
          { max_cost_microcents, price_version },
          (result) => {
            if (result.meta.free_tier_remaining !== null) relabel(result.meta.free_tier_remaining)
            return resultView(result)
          },
          idempotencyKey
        )
    }
  })
}

const quoteView = (quote: Quote["quote"], maximum: number): HTMLElement => {
  const { cost_microcents: cost, free_tier_remaining: free } = quote
  const isFree = cost === 0 && quote.hold_microcents === 0
  return notice(
    quote.sufficient_funds ? "good" : "bad",
    el(
      "p",
      isFree
        ? "This call is free. "
        : `This call costs ${money(cost)}${maximum > cost ? `, up to ${money(maximum)}` : ""}. `,
      free === null ? "" : `${plural(free, "free call")} remaining this month. `,
      quote.sufficient_funds
        ? `Balance after the call: ${money(quote.balance_after_microcents)}.`
        : [
            `Insufficient balance: ${money(quote.balance_microcents)} is available. `,
            el("a", { href: "/developer/funds" }, "Add funds")
          ]
    )
  )
}

const resultView = ({ meta, result }: CallResult): HTMLElement => {
  const isSuccess = meta.outcome === "success"
  const free = meta.free_tier_remaining
  return el(
    "div",
    notice(
      isSuccess ? "good" : "bad",
      el(
        "p",
        isSuccess ? `Succeeded in ${milliseconds(meta.latency_ms)}. ` : "The tool returned an error. ",
        `Cost: ${money(meta.cost_microcents)}. Balance: ${money(meta.remaining_balance_microcents)}. `,
        free === null ? "" : `${plural(free, "free call")} remaining this month. `,
        receiptButton(meta.receipt_id)
      )
    ),
    contentView(result)
  )
}

const failedView = (error: ApiError): HTMLElement => {
  const { cost_microcents: cost, receipt_id: receiptId } = error.body
  return notice("bad", el("p", `${error.message} Cost: ${money(Number(cost))}. `, receiptButton(String(receiptId))))
}

const contentView = (result: Schema): HTMLElement => {
  const content = Array.isArray(result["content"]) ? (result["content"] as ReadonlyArray<Schema>) : []
  const texts = content.flatMap((part) =>
    part["type"] === "text" && typeof part["text"] === "string" ? [part["text"]] : []
  )
  const json = pre("Result as JSON", JSON.stringify(result, null, 2))
  return texts.length === 0
    ? json
    : el(
        "div",
        texts.map((text) => pre("Result", text)),
        el("details", el("summary", "Result as JSON"), json)
      )
}

const pre = (label: string, text: string): HTMLElement =>
  el("pre", { class: "result", tabindex: 0, role: "group", "aria-label": label }, el("code", text))
