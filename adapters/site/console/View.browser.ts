/**
 * Elements and components, and values as the pages show them: badges, notices, times, figures, and text to copy. The
 * properties of components are checked. Text stays text: user content never becomes markup.
 */
import { type Attributes, type ComponentChildren, type ComponentType, h as create, type VNode } from "preact"
import { useRef, useState } from "preact/hooks"
import { copyText } from "../kit/CopiedText.browser.ts"
import { exactTime, localTime, preciseTime } from "../kit/Format.browser.ts"

export type View = VNode<object>

export interface Create {
  (
    tag: string,
    properties: Readonly<Record<string, unknown>> | null,
    ...children: ReadonlyArray<ComponentChildren>
  ): View
  <P>(
    component: ComponentType<P>,
    properties: (NoInfer<P> & Attributes) | null,
    ...children: ReadonlyArray<ComponentChildren>
  ): View
}

export const h = create as Create

interface ChoiceProps {
  readonly id: string
  readonly name?: string
  readonly label: string
  readonly choices: ReadonlyArray<readonly [value: string, label: string]>
  readonly value: string
  readonly changed: (value: string) => void
}

/** A list of choices with its label. */
export const Choice = ({ changed, choices, label, value, ...names }: ChoiceProps): View =>
  h(
    "div",
    { class: "choice" },
    h("label", { for: names.id }, label),
    h(
      "select",
      { ...names, onChange: (event: Event) => changed((event.currentTarget as HTMLSelectElement).value) },
      choices.map(([choice, text]) => h("option", { key: choice, value: choice, selected: choice === value }, text))
    )
  )

/** Label and style of each status. */
export type Badges<Status extends string> = Readonly<Record<Status, readonly [label: string, style: BadgeStyle]>>

type BadgeStyle = "good" | "bad" | "info" | ""

export const Badge = ({ label, style = "" }: { readonly label: string; readonly style?: BadgeStyle }): View =>
  h("span", { class: `badge ${style}` }, label)

export const statusBadge = <Status extends string>(all: Badges<Status>, status: Status): View => {
  const [label, style] = all[status] ?? [status, ""]
  return h(Badge, { label, style })
}

/** The choices of a filter by status. */
export const statusChoices = (all: Badges<string>): ReadonlyArray<readonly [value: string, label: string]> => [
  ["", "All"],
  ...Object.entries(all).map(([value, [label]]) => [value, label] as const)
]

interface NoticeProps {
  readonly style?: "good" | "bad" | ""
  readonly children?: ComponentChildren
}

export const Notice = ({ children, style = "" }: NoticeProps): View =>
  h("div", { class: `notice ${style}`, role: style === "bad" ? "alert" : "status" }, children)

/** Says what will be here and how to get it. */
export const Empty = ({ children }: { readonly children?: ComponentChildren }): View =>
  h("div", { class: "empty" }, children)

interface TimeTextProps {
  /** The time in ISO 8601. */
  readonly at: string
  /** Shows the seconds, where many rows are of the same minute. */
  readonly isPrecise?: boolean
}

/** A time in the reader's time zone. Its tooltip has the seconds and the name of the zone. */
export const TimeText = ({ at, isPrecise = false }: TimeTextProps): View =>
  h("time", { dateTime: at, title: exactTime(at) }, isPrecise ? preciseTime(at) : localTime(at))

export type Figure = readonly [name: string, value: ComponentChildren, note?: ComponentChildren]

/** A part of a page, which links and styles find by its ID. */
export const section = (id: string, ...children: ReadonlyArray<ComponentChildren>): View =>
  h("section", { id }, ...children)

/** Large single values. */
export const figures = (all: ReadonlyArray<Figure>): View =>
  h(
    "dl",
    { class: "figures" },
    all.map(([name, value, note]) =>
      h(
        "div",
        { class: "figure", key: name },
        h("dt", null, name),
        h("dd", null, value, note === undefined ? undefined : h("small", null, note))
      )
    )
  )

/** Names with their values. Those without a value are left out. */
export const facts = (all: ReadonlyArray<readonly [name: string, value: ComponentChildren]>): View =>
  h(
    "dl",
    { class: "facts" },
    all.flatMap(([name, value]) =>
      value === undefined || value === null
        ? []
        : [h("dt", { key: `${name}-name` }, name), h("dd", { key: `${name}-value` }, value)]
    )
  )

/** Copies the text of another element. */
export const useCopy = (label: string) => {
  const source = useRef<HTMLElement>(null)
  const [shown, setShown] = useState(label)
  const copy = async () => {
    if (source.current !== null) await copyText(source.current, label, setShown)
  }
  return { source, shown, copy }
}

export const CodeBlock = ({ text }: { readonly text: string }): View => {
  const { copy, shown, source } = useCopy("Copy")
  return h(
    "div",
    { class: "copyable" },
    h("pre", null, h("code", { ref: source }, text)),
    h("button", { type: "button", class: "tiny", onClick: () => void copy() }, shown)
  )
}

/** A value in one line, such as an ID. */
export const CopyValue = ({ name, text }: { readonly name: string; readonly text: string }): View => {
  const { copy, shown, source } = useCopy("Copy")
  return h(
    "span",
    { class: "value" },
    h("code", { ref: source, class: "whole" }, text),
    " ",
    h(
      "button",
      { type: "button", class: "tiny plain", "aria-label": `${shown} ${name}`, onClick: () => void copy() },
      shown
    )
  )
}
