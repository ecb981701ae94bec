/**
 * A part of a dashboard that loads by itself: waiting, there, or not there with the reason and another try.
 */
import { words } from "./Api.browser.ts"
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
  /** Of two that overlap the later one is shown. */
  let newest = 0
  const reload = async (): Promise<void> => {
    const mine = ++newest
    element.setAttribute("aria-busy", "true")
    try {
      const content = await load(reload)
      if (mine === newest) fill(body, content)
    } catch (error) {
      if (mine === newest)
        fill(
          body,
          notice("bad", words(error)),
          button("Try again", () => void reload(), "plain")
        )
    } finally {
      if (mine === newest) element.setAttribute("aria-busy", "false")
    }
  }
  void reload()
  return { element, reload }
}
