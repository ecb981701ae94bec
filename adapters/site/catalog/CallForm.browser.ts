/**
 * The form that calls a tool: get a quote, call, or copy the request as a curl command. Calls name the page's price, so a
 * call never costs more than shown.
 */
import { type ComponentChildren } from "preact"
import { useEffect, useMemo, useRef, useState } from "preact/hooks"
import { consoleApi } from "../console/ConsoleApi.browser.ts"
import { CodeBlock } from "../console/Copyable.browser.ts"
import { InputForm, type Values } from "../console/InputForm.browser.ts"
import { h, type View } from "../console/View.browser.ts"
import { ApiError, request } from "../kit/ApiRequest.browser.ts"
import type { CallResult, FreeTiers, Quote, ToolDetails } from "../kit/ApiResponses.browser.ts"
import { curl } from "../kit/Curl.browser.ts"
import { storedKey } from "../kit/Session.browser.ts"
import {
  argumentFields,
  jsonArgument,
  type Json,
  previewInput,
  readInput,
  type Schema,
  withFieldErrors
} from "./ArgumentFields.browser.ts"
import { CallAccount } from "./CallAccount.browser.ts"
import { FailedView, QuoteView, ResultView } from "./CallOutcome.browser.ts"

const FORM = "arguments"
const PATH = "/api/market/proxy"

export interface CallFormProps {
  readonly tool: ToolDetails
  readonly sample: Schema
}

export const CallForm = ({ sample, tool }: CallFormProps): View => {
  const { free_tier_calls, max_cost_microcents, price_version } = tool.pricing
  const asFields = useMemo(() => argumentFields(tool.input_schema), [tool])
  /** What the whole input was when the reader switched to JSON. */
  const [written, setWritten] = useState<Json>()
  const all = useMemo(() => (written === undefined ? asFields : [jsonArgument(written)]), [asFields, written])
  const [values, setValues] = useState<Values>({})
  const [isSignedIn, setSignedIn] = useState(false)
  const [outcome, setOutcome] = useState<ComponentChildren>()
  /** Undefined until the account is known. */
  const [freeCalls, setFreeCalls] = useState(free_tier_calls === 0 ? 0 : undefined)
  const root = useRef<HTMLDivElement>(null)
  const focus = (selector: string) => root.current?.querySelector<HTMLElement>(selector)?.focus()

  const send = async <A>(sent: Values, options: object, show: (answer: A) => View, idempotencyKey?: string) => {
    const key = storedKey("consumer")
    if (key === undefined) {
      focus("#account input")
      throw new Error("Enter your developer key to call this tool.")
    }
    setOutcome(undefined)
    const body = { tool_id: tool.id, input: readInput(all, sent), ...options }
    try {
      setOutcome(show(await request<A>("POST", PATH, { key, body, idempotencyKey })))
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      // A failed call with a receipt was forwarded.
      if (typeof error.body["receipt_id"] !== "string") throw withFieldErrors(all, error)
      setOutcome(h(FailedView, { error }))
    }
  }
  const quote = (sent: Values) =>
    send<Quote>(sent, { dry_run: true }, (answer) =>
      h(QuoteView, { quote: answer.quote, maximum: max_cost_microcents })
    )
  const call = (sent: Values, idempotencyKey: string) => {
    const show = (result: CallResult) => {
      const { free_tier_remaining: left } = result.meta
      if (left !== null) setFreeCalls(left)
      return h(ResultView, result)
    }
    return send<CallResult>(sent, { max_cost_microcents, price_version }, show, idempotencyKey)
  }
  const signedIn = () => {
    setSignedIn(true)
    void import("./ToolboxButtons.browser.ts").then(({ showToolboxButtons }) => showToolboxButtons())
    // Without the number the label names no price; the quote does.
    if (free_tier_calls > 0) void freeCallsLeft(tool).then(setFreeCalls, () => undefined)
  }
  const isMounted = useRef(false)
  useEffect(() => {
    if (isMounted.current) focus(`#${FORM} input, #${FORM} textarea, #${FORM} select`)
    isMounted.current = true
  }, [written])
  const hasFields = asFields.some(({ property }) => property !== undefined)
  const command = { tool_name: tool.qualified_name, input: previewInput(all, values, sample) }
  return h(
    "div",
    { ref: root, class: isSignedIn ? "" : "keyless" },
    all.length === 0 ? h("p", null, "This tool takes no arguments.") : undefined,
    h(InputForm, {
      // Other fields are another form.
      key: written === undefined ? "fields" : "json",
      id: FORM,
      fields: all.map(({ field }) => field),
      keepsValues: true,
      changed: setValues,
      submit: "Get quote",
      send: quote,
      secondAction: { label: callLabel(tool, freeCalls), send: call }
    }),
    hasFields
      ? h(
          "p",
          null,
          h(
            "button",
            {
              type: "button",
              class: "plain tiny",
              onClick: () => setWritten(written === undefined ? previewInput(asFields, values, {}) : undefined)
            },
            written === undefined ? "Edit as JSON" : "Edit as fields"
          )
        )
      : undefined,
    h("div", { id: "outcome", "aria-live": "polite" }, outcome),
    h("div", { id: "account" }, h(CallAccount, { signedIn })),
    h("h3", null, "curl"),
    h(CodeBlock, { text: curl(PATH, "$CONSUMER_KEY", command) })
  )
}

const freeCallsLeft = async ({ id, pricing }: ToolDetails): Promise<number> => {
  const { free_tiers: tiers } = await consoleApi("consumer").get<FreeTiers>("/api/v1/market/free-tiers")
  return tiers.find(({ tool_id }) => tool_id === id)?.left ?? pricing.free_tier_calls
}

const callLabel = ({ pricing }: ToolDetails, freeCalls: number | undefined): string => {
  if (pricing.max_cost_microcents === 0 || freeCalls === undefined) return "Call tool"
  return freeCalls > 0 ? "Call tool for free" : `Call tool for ${pricing.price}`
}
