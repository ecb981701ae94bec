/**
 * Configurations of MCP clients in tabs, with the key of the signed-in developer. Without scripts the page has the same
 * configurations with a placeholder.
 */
import { type ComponentChildren, Fragment, render } from "preact"
import { useEffect, useMemo, useRef, useState } from "preact/hooks"
import { Choice, CodeBlock, h, type View } from "../console/View.browser.ts"
import { KEY_CHANGED, type Role, storedKey } from "../kit/Session.browser.ts"

/** The key of this browser tab, as a component sees it: shown anew when the reader signs in or out. */
const useStoredKey = (role: Role): string | undefined => {
  const [key, setKey] = useState(() => storedKey(role))
  useEffect(() => {
    const read = () => setKey(storedKey(role))
    addEventListener(KEY_CHANGED, read)
    return () => removeEventListener(KEY_CHANGED, read)
  }, [role])
  return key
}

/** The server writes a placeholder instead of a key. */
interface ClientConfig {
  readonly id: string
  readonly label: string
  readonly snippets: ReadonlyArray<{ readonly place: string; readonly code: string }>
  readonly link?: { readonly label: string; readonly href: string }
  readonly note: string
}

interface ConnectData {
  readonly placeholder: string
  readonly doors: ReadonlyArray<{ readonly label: string; readonly configs: ReadonlyArray<ClientConfig> }>
}

/** `data`: as the server wrote it. */
export const ConnectTabs = ({ data }: { readonly data: string }): ComponentChildren => {
  const { doors, placeholder } = useMemo(() => JSON.parse(data) as ConnectData, [data])
  const [door, setDoor] = useState(0)
  const key = useStoredKey("consumer")
  const withKey = (code: string) => (key === undefined ? code : code.replaceAll(placeholder, () => key))
  return [
    doors.length > 1
      ? h(Choice, {
          id: "connect-door",
          label: "Tools",
          choices: doors.map(({ label }, index) => [String(index), label] as const),
          value: String(door),
          changed: (value) => setDoor(Number(value))
        })
      : undefined,
    h(ClientTabs, { configs: doors[door]!.configs, withKey }),
    h("p", { class: "small muted", "aria-live": "polite" }, key === undefined ? WITHOUT_KEY : WITH_KEY)
  ]
}

/** Fills the place for them on a page that the server rendered. */
export const connectPage = (): void => {
  const place = document.querySelector<HTMLElement>("#connect")
  if (place === null) return
  place.replaceChildren()
  render(h(ConnectTabs, { data: place.dataset["connect"]! }), place)
}

const WITH_KEY = "Includes the API key of this browser tab. Keep it secret."
const WITHOUT_KEY: ReadonlyArray<ComponentChildren> = [
  "Replace ",
  h("code", null, "YOUR_API_KEY"),
  " with your key: ",
  h("a", { href: "/developers/register" }, "register as a developer"),
  " or sign in to your ",
  h("a", { href: "/developer" }, "dashboard"),
  "."
]

interface ClientTabsProps {
  readonly configs: ReadonlyArray<ClientConfig>
  readonly withKey: (code: string) => string
}

/** The arrow keys switch tabs like clicks. */
const ClientTabs = ({ configs, withKey }: ClientTabsProps): View => {
  const [open, setOpen] = useState(0)
  const buttons = useRef<Array<HTMLElement | null>>([])
  const step = (event: KeyboardEvent) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
    if (by === undefined) return
    event.preventDefault()
    const next = (open + by + configs.length) % configs.length
    setOpen(next)
    buttons.current[next]?.focus()
  }
  return h(
    "div",
    null,
    h(
      "div",
      { role: "tablist", class: "tabs", "aria-label": "MCP clients" },
      configs.map(({ id, label }, index) =>
        h(
          "button",
          {
            key: id,
            ref: (element: HTMLElement | null) => {
              buttons.current[index] = element
            },
            type: "button",
            class: "tab",
            role: "tab",
            id: `connect-${id}-tab`,
            "aria-controls": `connect-${id}`,
            "aria-selected": String(index === open),
            tabIndex: index === open ? 0 : -1,
            onClick: () => setOpen(index),
            onKeyDown: step
          },
          label
        )
      )
    ),
    configs.map(({ id, link, note, snippets }, index) =>
      h(
        "div",
        {
          key: id,
          role: "tabpanel",
          id: `connect-${id}`,
          "aria-labelledby": `connect-${id}-tab`,
          hidden: index !== open
        },
        snippets.map(({ code, place }) =>
          h(Fragment, { key: place }, h("p", { class: "place" }, place), h(CodeBlock, { text: withKey(code) }))
        ),
        link === undefined ? undefined : h("p", null, h("a", { class: "button plain", href: link.href }, link.label)),
        h("p", { class: "small muted" }, coded(note))
      )
    )
  )
}

/** Text with code in backticks. */
const coded = (text: string): ReadonlyArray<ComponentChildren> =>
  text.split("`").map((piece, index) => (index % 2 === 1 ? h("code", null, piece) : piece))
