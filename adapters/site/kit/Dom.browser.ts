/**
 * DOM elements. Text stays text: user content never becomes markup.
 */
export type Child = Node | string | number | undefined | ReadonlyArray<Child>

type Handlers = { readonly [K in keyof HTMLElementEventMap]?: (event: HTMLElementEventMap[K]) => void }
export type Attributes = Readonly<Record<string, string | boolean | number | undefined>>

/** The attributes may be left out. */
export const el = <K extends keyof HTMLElementTagNameMap>(
  tag: K,
  ...parts: readonly [Attributes, ...ReadonlyArray<Child>] | ReadonlyArray<Child>
): HTMLElementTagNameMap[K] => {
  const made = document.createElement(tag)
  const [first] = parts
  const hasAttributes = isAttributes(first)
  for (const [name, value] of Object.entries(hasAttributes ? first : {})) {
    if (value !== undefined && value !== false) made.setAttribute(name, value === true ? "" : String(value))
  }
  append(made, (hasAttributes ? parts.slice(1) : parts) as ReadonlyArray<Child>)
  return made
}

const isAttributes = (first: Attributes | Child): first is Attributes =>
  typeof first === "object" && !(first instanceof Node) && !Array.isArray(first)

const append = (parent: Element, children: ReadonlyArray<Child>): void => {
  for (const child of children) {
    if (child === undefined) continue
    if (typeof child === "object" && !(child instanceof Node)) append(parent, child)
    else parent.append(child instanceof Node ? child : String(child))
  }
}

export const on = <E extends HTMLElement>(element: E, handlers: Handlers): E => {
  for (const [name, handler] of Object.entries(handlers)) element.addEventListener(name, handler as EventListener)
  return element
}

export const fill = (element: Element, ...children: ReadonlyArray<Child>): void => {
  element.replaceChildren()
  append(element, children)
}

/** Restores the focus that a disabled or replaced button has lost. */
export const restoreFocus = (...wanted: ReadonlyArray<HTMLElement | null | undefined>): void => {
  if (document.activeElement === null || document.activeElement === document.body) {
    wanted.find((one) => one?.isConnected === true)?.focus()
  }
}

export const byId = (id: string): HTMLElement => document.querySelector<HTMLElement>(`#${id}`)!

export const button = (label: string, work: () => void, style = ""): HTMLButtonElement =>
  on(el("button", { type: "button", class: style }, label), { click: work })

export const notice = (kind: "good" | "bad" | "", ...children: ReadonlyArray<Child>): HTMLElement =>
  el("div", { class: `notice ${kind}`, role: kind === "bad" ? "alert" : "status" }, ...children)

/** What an operation resolved to, if it is a message to show. */
export const showResult = (status: HTMLElement, message: string | Node | void): void => {
  if (typeof message === "string") fill(status, notice("good", message))
  else if (message !== undefined) fill(status, message)
}

export const empty = (...children: ReadonlyArray<Child>): HTMLElement => el("div", { class: "empty" }, ...children)

export const figures = (all: ReadonlyArray<readonly [name: string, value: string, note?: string]>): HTMLElement =>
  el(
    "dl",
    { class: "figures" },
    all.map(([name, value, note]) =>
      el(
        "div",
        { class: "figure" },
        el("dt", name),
        el("dd", value, note === undefined ? undefined : el("small", note))
      )
    )
  )

/** Names with their values; those without a value are left out. */
export const facts = (all: ReadonlyArray<readonly [name: string, value: Child]>): HTMLElement =>
  el(
    "dl",
    { class: "facts" },
    all.map(([name, value]) => (value === undefined ? undefined : [el("dt", name), el("dd", value)]))
  )

/** Browsers read the file after the click has returned. */
const KEPT_MS = 60_000

export const saveFile = (name: string, content: string | Blob): void => {
  const href = URL.createObjectURL(typeof content === "string" ? new Blob([content], { type: "text/plain" }) : content)
  el("a", { href, download: name }).click()
  setTimeout(() => URL.revokeObjectURL(href), KEPT_MS)
}
