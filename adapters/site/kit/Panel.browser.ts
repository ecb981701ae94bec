/**
 * A section of a dashboard that loads its own content and can be reloaded.
 */
import { errorMessage } from "./ApiRequest.browser.ts"
import { button, el, fill, notice, on } from "./Dom.browser.ts"

export interface Panel {
  readonly element: HTMLElement
  readonly reload: () => Promise<void>
}

export const panel = (
  id: string,
  title: string,
  load: (reload: () => Promise<void>) => Promise<ReadonlyArray<Node>>,
  ...tools: ReadonlyArray<Node>
): Panel => {
  const body = el("div", { class: "body" }, el("p", { class: "muted" }, "Loading…"))
  const element = el(
    "section",
    { class: "panel", id, "aria-labelledby": `${id}-title` },
    el("div", { class: "toolbar" }, el("h2", { id: `${id}-title`, tabindex: -1 }, title), ...tools),
    body
  )
  /** Of overlapping loads only the latest is shown. */
  let latest = 0
  const reload = async (): Promise<void> => {
    const mine = ++latest
    element.setAttribute("aria-busy", "true")
    const content = await load(reload).catch((error: unknown) => [
      notice("bad", errorMessage(error)),
      button("Try again", () => void reload(), "plain")
    ])
    if (mine !== latest) return
    fill(body, content)
    element.setAttribute("aria-busy", "false")
  }
  void reload()
  return { element, reload }
}

const DAYS = [
  ["7d", "7 days"],
  ["30d", "30 days"],
  ["90d", "90 days"]
] as const

export const USAGE_PERIODS = [["24h", "24 hours"], ...DAYS] as const
export const EARNINGS_PERIODS = [...DAYS, ["all", "All time"]] as const

/** A panel of a period that can be selected. */
export const periodPanel = (
  id: string,
  title: string,
  periods: ReadonlyArray<readonly [value: string, label: string]>,
  load: (period: string) => Promise<ReadonlyArray<Node>>
): Panel => {
  const options = periods.map(([value, label]) => el("option", { value, selected: value === "30d" }, label))
  const select = on(el("select", { id: `${id}-period` }, options), { change: () => void made.reload() })
  const choice = el("div", { class: "choice" }, el("label", { for: select.id }, "Period"), select)
  const made = panel(id, title, () => load(select.value), choice)
  return made
}
