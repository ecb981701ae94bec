/**
 * The form that makes a call: its fields come from the tool's schema, what it makes can be copied as a command, and with a
 * developer's key it asks for a quote or calls. Nobody pays more than the page said.
 */
import type { CallDone, Quote, ToolDetails } from "../kit/Answers.browser.ts"
import { ask, Refused } from "../kit/Api.browser.ts"
import {
  allInOne,
  type Argument,
  argumentsOf,
  inputNow,
  inputOf,
  placedAt,
  type Schema
} from "../kit/Arguments.browser.ts"
import { button, type Child, el, fill, notice, on } from "../kit/Dom.browser.ts"
import { milliseconds, money, plural } from "../kit/Figures.browser.ts"
import { form, type Values, valuesOf } from "../kit/Form.browser.ts"
import { command } from "../kit/KeyShown.browser.ts"
import { openReceipt } from "../kit/ReceiptDialog.browser.ts"
import { keyOf, signedIn, signOut } from "../kit/Session.browser.ts"

const FORM = "arguments"

export const callForm = (place: HTMLElement, tool: ToolDetails, sample: Schema): void => {
  const asFields = argumentsOf(tool.input_schema)
  const fields = el("div", {})
  const shell = el("div", {})
  const account = el("div", { id: "account" })
  const outcome = el("div", { id: "outcome", "aria-live": "polite" })
  const show = (all: ReadonlyArray<Argument>): void => {
    const made = formOf(tool, all, outcome, account)
    const tell = () => fill(shell, command(curl(tool, inputNow(all, valuesOf(made), sample))))
    on(made, { input: tell, change: tell })
    fill(
      fields,
      all.length === 0 ? el("p", {}, "It takes no arguments.") : undefined,
      made,
      other(asFields, all, made, show)
    )
    tell()
  }
  show(asFields)
  fill(place, fields, outcome, account, el("h3", {}, "The same from a shell"), shell)
  place.classList.add("keyless")
  void signedIn(
    account,
    "consumer",
    (_, who) => {
      place.classList.remove("keyless")
      fill(
        account,
        el(
          "p",
          { class: "toolbar small muted" },
          el("span", {}, "Calls are paid by ", el("strong", {}, String(who["name"])), "."),
          signOut("consumer")
        )
      )
    },
    "Use this key"
  )
}

/** Some arguments can only be written as JSON: those that a field would trim, or that the schema does not name. */
const other = (
  asFields: ReadonlyArray<Argument>,
  shown: ReadonlyArray<Argument>,
  made: HTMLFormElement,
  show: (all: ReadonlyArray<Argument>) => void
): HTMLElement | undefined => {
  const hasFields = asFields.some(({ property }) => property !== undefined)
  if (!hasFields) return undefined
  const change = () => {
    show(shown === asFields ? [allInOne(inputNow(asFields, valuesOf(made), {}))] : asFields)
    document.querySelector<HTMLElement>(`#${FORM} input, #${FORM} textarea, #${FORM} select`)?.focus()
  }
  return el(
    "p",
    {},
    button(shown === asFields ? "Write the arguments as JSON" : "Back to the fields", change, "plain tiny")
  )
}

const formOf = (tool: ToolDetails, all: ReadonlyArray<Argument>, outcome: HTMLElement, account: HTMLElement) => {
  const asking = async <A>(values: Values, more: object, show: (answer: A) => Node, idempotencyKey?: string) => {
    const key = keyOf("consumer")
    if (key === undefined) {
      account.querySelector("input")?.focus()
      throw new Error("Give a developer key first: calls are paid from its balance.")
    }
    fill(outcome)
    const body = { tool_id: tool.id, input: inputOf(all, values), ...more }
    try {
      const question = idempotencyKey === undefined ? { key, body } : { key, body, idempotencyKey }
      fill(outcome, show(await ask<A>("POST", "/api/market/proxy", question)))
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      if (typeof error.body["receipt_id"] !== "string") throw placedAt(all, error)
      fill(outcome, failed(error))
    }
    return undefined
  }
  return form({
    id: FORM,
    fields: all.map(({ field }) => field),
    submit: "Get a quote",
    send: (values) => asking<Quote>(values, { dry_run: true }, ({ quote }) => quoted(quote, tool)),
    also: {
      submit: mostOf(tool) === 0 ? "Call" : `Call for ${tool.pricing.price}`,
      send: (values, idempotencyKey) =>
        asking<CallDone>(
          values,
          { max_cost_microcents: mostOf(tool), price_version: tool.pricing.price_version },
          delivered,
          idempotencyKey
        )
    }
  })
}

const mostOf = ({ pricing }: ToolDetails): number => pricing.max_cost_microcents

const quoted = (quote: Quote["quote"], tool: ToolDetails): HTMLElement => {
  const isFree = quote.cost_microcents === 0 && quote.hold_microcents === 0
  const most = mostOf(tool)
  return notice(
    quote.sufficient_funds ? "good" : "bad",
    el(
      "p",
      {},
      isFree ? "This call is free. " : `This call costs ${money(quote.cost_microcents)}. `,
      !isFree && most > quote.cost_microcents ? `Its provider may say more, up to ${money(most)}. ` : "",
      quote.free_tier_remaining === null
        ? ""
        : `Free calls left this month: ${quote.free_tier_remaining.toLocaleString()}. `,
      quote.sufficient_funds
        ? `Your balance of ${money(quote.balance_microcents)} would be ${money(quote.balance_after_microcents)} then.`
        : `Your balance of ${money(quote.balance_microcents)} does not reach for it. `,
      quote.sufficient_funds ? undefined : el("a", { href: "/developers/dashboard" }, "Load it on your dashboard")
    )
  )
}

const delivered = ({ meta, result }: CallDone): HTMLElement =>
  el(
    "div",
    {},
    notice(
      meta.outcome === "success" ? "good" : "bad",
      el(
        "p",
        {},
        meta.outcome === "success"
          ? `Done in ${milliseconds(meta.latency_ms)} for ${meta.cost_microcents === 0 ? "nothing" : money(meta.cost_microcents)}. `
          : `The tool answered with an error of its own. ${costOf(meta.cost_microcents)} `,
        `Your balance: ${money(meta.remaining_balance_microcents)}`,
        meta.free_tier_remaining === null ? "." : ` and ${plural(meta.free_tier_remaining, "free call")} this month.`,
        receiptButton(meta.receipt_id)
      )
    ),
    resultView(result)
  )

/** A call that was forwarded and got no result: it has a receipt. */
const failed = (error: Refused): HTMLElement => {
  const { cost_microcents: cost, receipt_id: receiptId } = error.body
  return notice("bad", el("p", {}, `${error.message} ${costOf(Number(cost))}`, receiptButton(String(receiptId))))
}

const costOf = (microcents: number): string => (microcents === 0 ? "It cost nothing." : `It cost ${money(microcents)}.`)

const receiptButton = (receiptId: string): Child => [" ", button("Receipt", () => openReceipt(receiptId), "plain tiny")]

const resultView = (result: Schema): HTMLElement => {
  const content = Array.isArray(result["content"]) ? (result["content"] as ReadonlyArray<Schema>) : []
  const texts = content.flatMap((part) =>
    part["type"] === "text" && typeof part["text"] === "string" ? [part["text"]] : []
  )
  const whole = pre("The whole result, as JSON", JSON.stringify(result, null, 2))
  return texts.length === 0
    ? whole
    : el(
        "div",
        {},
        texts.map((text) => pre("What it says", text)),
        el("details", {}, el("summary", {}, "The whole result, as JSON"), whole)
      )
}

const pre = (label: string, text: string): HTMLElement =>
  el("pre", { class: "result", tabindex: 0, role: "group", "aria-label": label }, el("code", {}, text))

const curl = (tool: ToolDetails, input: unknown): string =>
  [
    `curl ${location.origin}/api/market/proxy`,
    `-H "Authorization: Bearer $CONSUMER_KEY"`,
    `-H 'Content-Type: application/json'`,
    `-d '${JSON.stringify({ tool_name: tool.qualified_name, input }, null, 2).replaceAll("'", `'\\''`)}'`
  ].join(" \\\n  ")
