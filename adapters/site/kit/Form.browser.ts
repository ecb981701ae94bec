/**
 * Forms that send requests and show errors beside their fields. A retry carries the same idempotency key until the outcome
 * is known.
 */
import { ApiError, errorMessage, idempotentRequest } from "./ApiRequest.browser.ts"
import { type Attributes, button, el, fill, notice, on, restoreFocus, showResult } from "./Dom.browser.ts"

export interface Field {
  readonly name: string
  readonly label: string
  readonly hint?: string
  readonly type?: "text" | "email" | "url" | "number" | "textarea" | "json" | "select"
  readonly value?: string
  readonly optional?: boolean
  readonly placeholder?: string
  readonly autocomplete?: string
  readonly choices?: ReadonlyArray<readonly [value: string, label: string]>
}

export type Values = Readonly<Record<string, string>>

/** Resolves to the message to show, if any. */
type Submit = (values: Values, idempotencyKey: string) => Promise<string | Node | void>

export interface FormOptions {
  readonly id: string
  readonly fields: ReadonlyArray<Field>
  readonly submit: string
  readonly style?: "stack" | "row"
  readonly send: Submit
  /** A second action with the same fields. */
  readonly secondAction?: { readonly label: string; readonly send: Submit }
}

export const form = ({ fields, id, secondAction, send, style = "stack", submit }: FormOptions): HTMLFormElement => {
  const status = el("div", { "aria-live": "polite" })
  // Enter submits the first action, never the second one.
  const first = el("button", { type: "submit", class: secondAction === undefined ? "" : "plain" }, submit)
  const second =
    secondAction === undefined
      ? undefined
      : button(secondAction.label, () => void run(secondAction.label, secondAction.send))
  const made = el(
    "form",
    { class: style, id, novalidate: true },
    fields.map((field) => fieldElement(id, field)),
    style === "row" ? [first, second] : status,
    style === "row" ? status : el("div", { class: "actions" }, first, second)
  )
  const request = idempotentRequest()
  const run = async (action: string, sendValues: Submit) => {
    const values = valuesOf(made)
    const missing = fields.filter(({ name, optional }) => optional !== true && values[name] === "")
    showErrors(
      made,
      id,
      missing.map(({ label, name }) => [name, `${label} is required.`])
    )
    if (missing.length > 0) return
    const disable = (isDisabled: boolean) =>
      [first, second].forEach((one) => one?.toggleAttribute("disabled", isDisabled))
    const panel = made.closest("section")
    const focused = document.activeElement
    disable(true)
    fill(status)
    try {
      const message = await sendValues(values, request.keyFor(JSON.stringify([action, values])))
      request.finished()
      showResult(status, message)
    } catch (error) {
      request.finished(error)
      const all = error instanceof ApiError ? error.fieldErrors : []
      const shown = all.flatMap(({ message, path }) => {
        const name = fields.find((field) => path.includes(field.name))?.name
        return name === undefined ? [] : [[name, message] as const]
      })
      showErrors(made, id, shown)
      if (shown.length === 0 || shown.length < all.length) fill(status, notice("bad", errorMessage(error)))
    } finally {
      disable(false)
      restoreFocus(focused instanceof HTMLElement ? focused : undefined, first, panel?.querySelector("h2"))
    }
  }
  return on(made, {
    submit: (event) => {
      event.preventDefault()
      void run(submit, send)
    }
  })
}

const fieldElement = (formId: string, field: Field): HTMLElement => {
  const id = `${formId}-${field.name}`
  const shared = {
    id,
    name: field.name,
    placeholder: field.placeholder,
    autocomplete: field.autocomplete ?? "off",
    "aria-describedby": `${id}-hint ${id}-fault`,
    "aria-required": field.optional === true ? undefined : "true"
  }
  return el(
    "div",
    { class: "field" },
    el("label", { for: id }, field.label, field.optional === true ? " (optional)" : ""),
    inputElement(field, shared),
    el("p", { class: "hint", id: `${id}-hint`, hidden: field.hint === undefined }, field.hint),
    el("p", { class: "fault small", id: `${id}-fault`, hidden: true })
  )
}

const inputElement = ({ choices = [], type = "text", value }: Field, shared: Attributes): HTMLElement => {
  switch (type) {
    case "select":
      return el(
        "select",
        shared,
        choices.map(([choice, label]) => el("option", { value: choice, selected: choice === value }, label))
      )
    case "textarea":
      return el("textarea", shared, value)
    case "json":
      return el("textarea", { ...shared, class: "code", spellcheck: "false" }, value)
    case "number":
      return el("input", { ...shared, type: "text", inputmode: "decimal", value })
    default:
      return el("input", { ...shared, type, value })
  }
}

export const valuesOf = (made: HTMLFormElement): Values =>
  Object.fromEntries([...new FormData(made)].map(([name, value]) => [name, String(value).trim()]))

/** Moves the focus to the first field with an error. */
const showErrors = (
  made: HTMLFormElement,
  id: string,
  errors: ReadonlyArray<readonly [name: string, message: string]>
): void => {
  for (const input of made.querySelectorAll<HTMLInputElement>("[name]")) {
    const error = errors.find(([name]) => name === input.name)
    const place = made.querySelector<HTMLElement>(`#${id}-${input.name}-fault`)!
    place.hidden = error === undefined
    place.textContent = error?.[1] ?? ""
    if (error === undefined) input.removeAttribute("aria-invalid")
    else input.setAttribute("aria-invalid", "true")
  }
  made.querySelector<HTMLElement>("[aria-invalid]")?.focus()
}
