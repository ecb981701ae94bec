/**
 * One field of a form: label, input, hint and error.
 */
import { h, type View } from "./View.browser.ts"

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

export interface FieldInputProps {
  readonly formId: string
  readonly field: Field
  readonly error: string | undefined
}

export const FieldInput = ({ error, field, formId }: FieldInputProps): View => {
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
