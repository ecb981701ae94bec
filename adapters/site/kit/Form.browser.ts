/**
 * Forms that send what they hold to the service and show its own words beside the field that they are about. A second try
 * after an answer that never came carries the same idempotency key: it is no second wish.
 */
import { Refused, words } from "./Api.browser.ts"
import { button, el, fill, focusAgain, notice, on } from "./Dom.browser.ts"
import { makeWish } from "./IdempotentRequest.browser.ts"

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

export interface FormOptions {
  readonly id: string
  readonly fields: ReadonlyArray<Field>
  readonly submit: string
  readonly style?: "stack" | "row"
  /** What to say once it is done; nothing where the page says so itself. */
  readonly send: Send
  /** Another thing to do with the same fields, by a button of its own. */
  readonly also?: { readonly submit: string; readonly send: Send }
}

type Send = (values: Values, idempotencyKey: string) => Promise<string | Node | undefined>

export const form = ({ also, fields, id, send, style = "stack", submit }: FormOptions): HTMLFormElement => {
  const said = el("div", { "aria-live": "polite" })
  // The first submits when Enter is pressed: the other one is never pressed by accident.
  const sender = el("button", { type: "submit", class: also === undefined ? "" : "plain" }, submit)
  const other = also === undefined ? undefined : button(also.submit, () => void work(also.submit, also.send))
  const made = el(
    "form",
    { class: style, id, novalidate: true },
    fields.map((field) => fieldOf(id, field)),
    style === "row" ? [sender, other] : said,
    style === "row" ? said : el("div", { class: "actions" }, sender, other)
  )
  const wish = makeWish()
  const work = async (what: string, sending: Send) => {
    const values = valuesOf(made)
    const missing = fields.filter(({ name, optional }) => optional !== true && values[name] === "")
    complain(
      made,
      id,
      missing.map(({ label, name }) => [name, `${label} is needed.`])
    )
    if (missing.length > 0) return
    const busy = (is: boolean) => [sender, other].forEach((one) => one?.toggleAttribute("disabled", is))
    const panel = made.closest("section")
    const asked = document.activeElement
    busy(true)
    fill(said)
    try {
      const done = await sending(values, wish.keyFor(JSON.stringify([what, values])))
      wish.heard()
      if (done !== undefined) fill(said, typeof done === "string" ? notice("good", done) : done)
    } catch (error) {
      wish.heard(error)
      const faults = error instanceof Refused ? error.faults : []
      const placed = faults.flatMap(({ message, path }) => {
        const name = fields.find((field) => path.includes(field.name))?.name
        return name === undefined ? [] : [[name, message] as const]
      })
      complain(made, id, placed)
      if (placed.length === 0 || placed.length < faults.length) fill(said, notice("bad", words(error)))
    } finally {
      busy(false)
      focusAgain(asked instanceof HTMLElement ? asked : undefined, sender, panel?.querySelector("h2"))
    }
  }
  return on(made, {
    submit: (event) => {
      event.preventDefault()
      void work(submit, send)
    }
  })
}

const fieldOf = (form_: string, field: Field): HTMLElement => {
  const id = `${form_}-${field.name}`
  const shared = {
    id,
    name: field.name,
    placeholder: field.placeholder,
    autocomplete: field.autocomplete ?? "off",
    "aria-describedby": `${id}-hint ${id}-fault`,
    "aria-required": field.optional === true ? undefined : "true"
  }
  const input =
    field.type === "select"
      ? el(
          "select",
          shared,
          (field.choices ?? []).map(([value, label]) => el("option", { value, selected: value === field.value }, label))
        )
      : field.type === "textarea" || field.type === "json"
        ? el(
            "textarea",
            { ...shared, ...(field.type === "json" ? { class: "code", spellcheck: "false" } : {}) },
            field.value
          )
        : el("input", {
            ...shared,
            type: field.type === "number" ? "text" : (field.type ?? "text"),
            inputmode: field.type === "number" ? "decimal" : undefined,
            value: field.value
          })
  return el(
    "div",
    { class: "field" },
    el("label", { for: id }, field.label, field.optional === true ? " (optional)" : ""),
    input,
    el("p", { class: "hint", id: `${id}-hint`, hidden: field.hint === undefined }, field.hint),
    el("p", { class: "fault small", id: `${id}-fault`, hidden: true })
  )
}

/** As they stand in it. */
export const valuesOf = (made: HTMLFormElement): Values =>
  Object.fromEntries([...new FormData(made)].map(([name, value]) => [name, String(value).trim()]))

/** Each fault beside its field; the first of them gets the focus. */
const complain = (
  made: HTMLFormElement,
  id: string,
  faults: ReadonlyArray<readonly [name: string, message: string]>
): void => {
  for (const input of made.querySelectorAll<HTMLInputElement>("[name]")) {
    const fault = faults.find(([name]) => name === input.name)
    const place = made.querySelector<HTMLElement>(`#${id}-${input.name}-fault`)!
    place.hidden = fault === undefined
    place.textContent = fault?.[1] ?? ""
    if (fault === undefined) input.removeAttribute("aria-invalid")
    else input.setAttribute("aria-invalid", "true")
  }
  made.querySelector<HTMLElement>("[aria-invalid]")?.focus()
}
