/**
 * Forms that send requests and show errors beside their fields. A retry carries the same idempotency key until the outcome
 * is known.
 */
import type { ComponentChildren } from "preact"
import { useEffect, useMemo, useRef, useState } from "preact/hooks"
import { ApiError, errorMessage, idempotentRequest } from "../kit/ApiRequest.browser.ts"
import { useFocusAfterRemoval } from "./Announcements.browser.ts"
import { h, Notice, type View } from "./View.browser.ts"

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

interface FieldInputProps {
  readonly formId: string
  readonly field: Field
  readonly error: string | undefined
}

/** One field of a form: label, input, hint and error. */
const FieldInput = ({ error, field, formId }: FieldInputProps): View => {
  const id = `${formId}-${field.name}`
  const shared = {
    id,
    name: field.name,
    autocomplete: field.autocomplete ?? "off",
    "aria-describedby": `${id}-hint ${id}-fault`,
    ...(field.placeholder === undefined ? {} : { placeholder: field.placeholder }),
    ...(field.optional === true ? {} : { "aria-required": "true" as const }),
    ...(error === undefined ? {} : { "aria-invalid": "true" as const })
  }
  return h(
    "div",
    { class: "field" },
    h("label", { for: id }, field.label, field.optional === true ? " (optional)" : ""),
    inputOf(field, shared),
    h("p", { class: "hint", id: `${id}-hint`, hidden: field.hint === undefined }, field.hint),
    h("p", { class: "fault small", id: `${id}-fault`, hidden: error === undefined }, error)
  )
}

const inputOf = (
  { choices = [], type = "text", value = "" }: Field,
  shared: Readonly<Record<string, unknown>>
): View => {
  switch (type) {
    case "select":
      return h(
        "select",
        shared,
        choices.map(([choice, label]) => h("option", { key: choice, value: choice, selected: choice === value }, label))
      )
    case "textarea":
      return h("textarea", { ...shared, defaultValue: value })
    case "json":
      return h("textarea", { ...shared, class: "code", spellcheck: false, defaultValue: value })
    case "number":
      return h("input", { ...shared, type: "text", inputMode: "decimal", defaultValue: value })
    default:
      return h("input", { ...shared, type, defaultValue: value })
  }
}

export type Values = Readonly<Record<string, string>>

/** Resolves to what to show below the fields, if anything. */
type Send = (values: Values, idempotencyKey: string) => Promise<ComponentChildren | void>

interface InputFormProps {
  readonly id: string
  readonly fields: ReadonlyArray<Field>
  readonly submit: string
  readonly style?: "stack" | "row"
  readonly send: Send
  /** A second action with the same fields. */
  readonly secondAction?: { readonly label: string; readonly send: Send }
  /** Keeps the entered values after a success. */
  readonly keepsValues?: boolean | undefined
  /** Called with the values at first, and when one changes. */
  readonly changed?: (values: Values) => void
}

type Errors = Readonly<Record<string, string>>

export const InputForm = (props: InputFormProps): View => {
  const { changed, fields, id, keepsValues = false, secondAction, send, style = "stack", submit } = props
  const form = useRef<HTMLFormElement>(null)
  const request = useMemo(idempotentRequest, [])
  const [errors, setErrors] = useState<Errors>({})
  const [status, setStatus] = useState<ComponentChildren>()
  const [isSending, setSending] = useState(false)
  useEffect(() => {
    if (Object.keys(errors).length > 0) form.current?.querySelector<HTMLElement>("[aria-invalid]")?.focus()
  }, [errors])
  const focused = useRef<Element | null>(null)
  useFocusAfterRemoval(form, focused)
  useEffect(() => {
    if (isSending) return
    // The button lost the focus while it was disabled.
    const { activeElement } = document
    const isLost = activeElement === null || activeElement === document.body
    if (isLost && focused.current instanceof HTMLElement) focused.current.focus()
    focused.current = null
  }, [isSending])
  const tellValues = () => {
    if (form.current !== null) changed?.(valuesOf(form.current))
  }
  useEffect(tellValues, [])
  // The key belongs to the action, not to its label: a retry is the same request even if the label has changed.
  const run = async (action: "first" | "second", sendValues: Send) => {
    const values = valuesOf(form.current!)
    const missing = missingIn(fields, values)
    setErrors(missing)
    if (Object.keys(missing).length > 0) return
    focused.current = document.activeElement
    setSending(true)
    setStatus(undefined)
    try {
      const shown = await sendValues(values, request.keyFor(JSON.stringify([action, values])))
      request.finished()
      if (!keepsValues) form.current?.reset()
      if (shown !== undefined) setStatus(typeof shown === "string" ? h(Notice, { style: "good" }, shown) : shown)
    } catch (error) {
      request.finished(error)
      const found = errorsIn(fields, error)
      setErrors(found.byField)
      if (!found.isComplete) setStatus(h(Notice, { style: "bad" }, errorMessage(error)))
    } finally {
      setSending(false)
    }
  }
  const statusArea = h("div", { class: "form-status", "aria-live": "polite" }, status)
  const first = h(
    "button",
    // Enter submits the first action, never the second one.
    { type: "submit", class: secondAction === undefined ? "" : "plain", disabled: isSending },
    submit
  )
  const second =
    secondAction === undefined
      ? undefined
      : h(
          "button",
          {
            type: "button",
            disabled: isSending,
            onClick: () => void run("second", secondAction.send)
          },
          secondAction.label
        )
  return h(
    "form",
    {
      ref: form,
      id,
      class: style,
      noValidate: true,
      "aria-busy": isSending ? "true" : "false",
      onInput: tellValues,
      onSubmit: (event: Event) => {
        event.preventDefault()
        void run("first", send)
      }
    },
    fields.map((field) => h(FieldInput, { key: field.name, formId: id, field, error: errors[field.name] })),
    style === "row"
      ? [h("div", { class: "row-actions" }, first, second), statusArea]
      : [statusArea, h("div", { class: "actions" }, first, second)]
  )
}

const missingIn = (fields: ReadonlyArray<Field>, values: Values): Errors =>
  Object.fromEntries(
    fields
      .filter(({ name, optional }) => optional !== true && (values[name] ?? "") === "")
      .map(({ label, name }) => [name, `${label} is required.`])
  )

/** `isComplete`: every error belongs to a field. */
const errorsIn = (fields: ReadonlyArray<Field>, error: unknown) => {
  const all = error instanceof ApiError ? error.fieldErrors : []
  const shown = all.flatMap(({ message, path }) => {
    const name = fields.find((field) => path.includes(field.name))?.name
    return name === undefined ? [] : [[name, message] as const]
  })
  return { byField: Object.fromEntries(shown), isComplete: shown.length > 0 && shown.length === all.length }
}

const valuesOf = (form: HTMLFormElement): Values =>
  Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, String(value).trim()]))
