/**
 * A section of a dashboard that loads its own content and can be reloaded.
 */
import { errorMessage } from "./Api.browser.ts"
import { button, el, fill, notice } from "./Dom.browser.ts"

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
