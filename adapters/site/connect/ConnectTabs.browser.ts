/**
 * Configurations of MCP clients in tabs, with the key of the signed-in developer. Without scripts the page has the same
 * configurations with a placeholder.
 */
import { codeBlock } from "../kit/CodeBlock.browser.ts"
import { button, type Child, el, fill, on } from "../kit/Dom.browser.ts"
import { KEY_CHANGED, storedKey } from "../kit/Session.browser.ts"

/** From the server, which writes a placeholder instead of a key. */
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
export const connectTabs = (place: HTMLElement, data: string): void => {
  const { doors, placeholder } = JSON.parse(data) as ConnectData
  let chosen = doors[0]!
  let client = 0
  const hint = el("p", { class: "small muted", "aria-live": "polite" })
  const body = el("div")
  const show = () => {
    const key = storedKey("consumer")
    const withKey = (code: string) => (key === undefined ? code : code.replaceAll(placeholder, () => key))
    fill(hint, ...(key === undefined ? WITHOUT_KEY : WITH_KEY))
    fill(
      body,
      tabs(chosen.configs, withKey, client, (index) => {
        client = index
      })
    )
  }
  const select = on(
    el(
      "select",
      { id: `${place.id}-door` },
      doors.map(({ label }, index) => el("option", { value: index }, label))
    ),
    {
      change: () => {
        chosen = doors[Number(select.value)]!
        show()
      }
    }
  )
  const choice = el("div", { class: "choice" }, el("label", { for: select.id }, "Tools"), select)
  fill(place, doors.length > 1 ? choice : undefined, body, hint)
  addEventListener(KEY_CHANGED, show)
  show()
}

/** On a page that the server rendered with a place for them. */
export const connectPage = (): void => {
  const place = document.querySelector<HTMLElement>("#connect")
  if (place === null) return
  connectTabs(place, place.dataset["connect"]!)
}

const WITH_KEY: ReadonlyArray<Child> = ["Includes the API key of this browser tab. Keep it secret."]
const WITHOUT_KEY: ReadonlyArray<Child> = [
  "Replace ",
  el("code", "YOUR_API_KEY"),
  " with your key: ",
  el("a", { href: "/developers/register" }, "register as a developer"),
  " or sign in to your ",
  el("a", { href: "/developer" }, "dashboard"),
  "."
]

/** By arrow keys as by clicks. */
const tabs = (
  configs: ReadonlyArray<ClientConfig>,
  withKey: (code: string) => string,
  first: number,
  chose: (index: number) => void
): HTMLElement => {
  const panels = configs.map((config) =>
    el(
      "div",
      { role: "tabpanel", id: `connect-${config.id}`, "aria-labelledby": `connect-${config.id}-tab` },
      config.snippets.map(({ code, place }) => [el("p", { class: "place" }, place), codeBlock(withKey(code))]),
      config.link === undefined
        ? undefined
        : el("p", el("a", { class: "button plain", href: config.link.href }, config.link.label)),
      el("p", { class: "small muted" }, coded(config.note))
    )
  )
  const buttons = configs.map(({ id, label }, index) => {
    const made = button(label, () => open(index), "tab")
    made.id = `connect-${id}-tab`
    made.setAttribute("role", "tab")
    made.setAttribute("aria-controls", `connect-${id}`)
    return on(made, {
      keydown: (event) => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
        if (step === undefined) return
        event.preventDefault()
        open((index + step + buttons.length) % buttons.length).focus()
      }
    })
  })
  const open = (index: number): HTMLElement => {
    chose(index)
    for (const [at, panel] of panels.entries()) {
      panel.hidden = at !== index
      buttons[at]!.setAttribute("aria-selected", String(at === index))
      buttons[at]!.tabIndex = at === index ? 0 : -1
    }
    return buttons[index]!
  }
  open(first)
  return el("div", el("div", { role: "tablist", class: "tabs", "aria-label": "MCP clients" }, buttons), panels)
}

/** Text with code in backticks. */
const coded = (text: string): ReadonlyArray<Child> =>
  text.split("`").map((piece, index) => (index % 2 === 1 ? el("code", piece) : piece))
