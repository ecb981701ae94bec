/**
 * The interactive parts of a tool's page: call form, service levels, configurations of MCP clients.
 */
import { type ComponentChildren, render } from "preact"
import { useEffect, useMemo, useRef, useState } from "preact/hooks"
import { connectPage } from "../connect/ConnectTabs.browser.ts"
import { type ConsoleAccount, consoleApi } from "../console/ConsoleContext.browser.ts"
import { InputForm, type Values } from "../console/InputForm.browser.ts"
import { Modals, openModal } from "../console/Modal.browser.ts"
import { loaded, useResource } from "../console/Resource.browser.ts"
import { identifyAccount, keyField, SignInForm } from "../console/SignInForm.browser.ts"
import { CodeBlock, Empty, h, Notice, type View } from "../console/View.browser.ts"
import { ApiError, curl, request } from "../kit/ApiRequest.browser.ts"
import type { CallResult, FreeTiers, Quote, ToolDetails, ToolSla } from "../kit/ApiResponses.browser.ts"
import { milliseconds, money, plural } from "../kit/Format.browser.ts"
import { forgetKey, REGISTRATION_PATHS, storedKey, storeKey } from "../kit/Session.browser.ts"
import {
  argumentFields,
  type Json,
  jsonArgument,
  previewInput,
  readInput,
  type Schema,
  withFieldErrors
} from "./ArgumentFields.browser.ts"

// The form that calls a tool: get a quote, call, or copy the request as a curl command. Calls name the page's price, so a
// call never costs more than shown.

const ROLE = "consumer"
const identify = identifyAccount(ROLE)

interface Stored {
  readonly account?: ConsoleAccount
  /** The reason why the stored key was rejected. */
  readonly error?: ComponentChildren
}

const storedAccount = async (): Promise<Stored> => {
  const key = storedKey(ROLE)
  if (key === undefined) return {}
  const found = await identify(key)
  if ("error" in found) forgetKey(ROLE)
  return found
}

/** The account that pays for calls from a tool's page: asks for its key, unless this browser tab has one. */
const CallAccount = ({ signedIn }: { readonly signedIn: () => void }): View => {
  const stored = useResource(storedAccount, [])
  const [entered, setEntered] = useState<ConsoleAccount>()
  const account = entered ?? stored.state.value.value?.account
  useEffect(() => {
    if (account !== undefined) signedIn()
  }, [account])
  const enter = async ({ key = "" }: Readonly<Record<string, string>>) => {
    const identified = await identify(key)
    if ("error" in identified) return identified.error
    storeKey(ROLE, key)
    setEntered(identified.account)
    return undefined
  }
  if (account !== undefined) return h(BilledTo, { account })
  return loaded(stored, ({ error }) =>
    h(SignInForm, {
      fields: [keyField("Your developer key", "Kept in this tab until you close it or sign out.")],
      submit: "Use this key",
      enter,
      error,
      help: ["No key yet? ", h("a", { href: REGISTRATION_PATHS[ROLE] }, "Register as a developer"), "."]
    })
  )
}

const BilledTo = ({ account }: { readonly account: ConsoleAccount }): View =>
  h(
    "p",
    { class: "toolbar small muted" },
    h("span", null, "Billed to ", h("strong", null, account.name), "."),
    h(
      "button",
      {
        type: "button",
        class: "plain",
        onClick: () => {
          forgetKey(ROLE)
          location.reload()
        }
      },
      "Sign out"
    )
  )

/** Opens a receipt. What shows and verifies it is loaded only then. */
const ReceiptButton = ({ id }: { readonly id: string }): View => {
  const open = async () => {
    const { ReceiptView } = await import("../console/ReceiptCheck.browser.ts")
    await openModal("Receipt", () => h(ReceiptView, { id }))
  }
  return h("button", { type: "button", class: "plain tiny", onClick: () => void open() }, "Receipt")
}

// The result of a quote or a call from a tool's page.

const freeCalls = (left: number | null): string =>
  left === null ? "" : `${plural(left, "free call")} remaining this month. `

const QuoteView = ({ maximum, quote }: { readonly quote: Quote["quote"]; readonly maximum: number }): View => {
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

const ResultView = ({ meta, result }: CallResult): View => {
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
const FailedView = ({ error }: { readonly error: ApiError }): View =>
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

const FORM = "arguments"
const PATH = "/api/market/proxy"

const CallForm = ({ sample, tool }: { readonly tool: ToolDetails; readonly sample: Schema }): View => {
  const { free_tier_calls, max_cost_microcents, price_version } = tool.pricing
  const asFields = useMemo(() => argumentFields(tool.input_schema), [tool])
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

interface CallSectionProps {
  readonly toolId: string
  /** The text that the page shows. */
  readonly price: string
  /** Sample input, as JSON. */
  readonly sample: string
  /** Called once the form is there. */
  readonly shown: () => void
}

/** The call form with the tool's current terms: the page may be cached. */
const CallSection = ({ price, sample, shown, toolId }: CallSectionProps): ComponentChildren => {
  const tool = useResource(
    () => request<ToolDetails>("GET", `/api/v1/market/tools/${toolId}`, { isFresh: true }),
    [toolId]
  )
  const isLoaded = tool.state.value.value !== undefined
  useEffect(() => {
    if (isLoaded) shown()
  }, [isLoaded])
  return [
    loaded(tool, (found) =>
      found.provider_frozen_at !== null
        ? h(Notice, null, "The operator has frozen the provider: this tool is not for sale at present.")
        : found.withdrawn_at !== null
          ? h(Notice, null, "The provider has withdrawn this tool.")
          : [
              price === found.pricing.price
                ? undefined
                : h(Notice, null, `The price has changed. A call now costs ${found.pricing.price}.`),
              h(CallForm, { tool: found, sample: JSON.parse(sample) as Schema })
            ]
    ),
    h(Modals, null)
  ]
}

/** Shows the last 30 days. The charts are loaded only where there were calls. */
const ToolServiceLevels = ({ toolId }: { readonly toolId: string }): View => {
  const levels = useResource(async () => {
    const sla = await request<ToolSla>("GET", `/api/v1/market/tools/${toolId}/sla`)
    if (sla.total_calls_30d === 0) return h(Empty, null, "No calls in the last 30 days.")
    const { ServiceLevelCharts } = await import("./ServiceLevelCharts.browser.ts")
    return h(ServiceLevelCharts, { sla })
  }, [toolId])
  return loaded(levels, (view) => view)
}

/** Withdrawn tools have no call form. */
const callPlace = document.querySelector<HTMLElement>("#call")
if (callPlace !== null) {
  const root = document.createElement("div")
  // The command of the server stays until the form replaces it.
  const command = [...callPlace.children]
  callPlace.prepend(root)
  const { price = "", sample = "{}", tool = "" } = callPlace.dataset
  render(
    h(CallSection, { toolId: tool, price, sample, shown: () => command.forEach((element) => element.remove()) }),
    root
  )
}

const levelsPlace = document.querySelector<HTMLElement>("#sla")
if (levelsPlace !== null) render(h(ToolServiceLevels, { toolId: levelsPlace.dataset["tool"]! }), levelsPlace)

connectPage()
