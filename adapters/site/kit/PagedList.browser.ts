/**
 * A list that the service gives page by page: the first one, and a button for more.
 */
import { words } from "./Api.browser.ts"
import { button, el, fill, notice } from "./Dom.browser.ts"

export interface PageOf<Item> {
  readonly items: ReadonlyArray<Item>
  readonly next: string | null
}

export const pages = async <Item>(
  read: (cursor: string | undefined) => Promise<PageOf<Item>>,
  show: (items: ReadonlyArray<Item>) => ReadonlyArray<Node>
): Promise<HTMLElement> => {
  const place = el("div", {})
  const said = el("div", { "aria-live": "polite" })
  let items: ReadonlyArray<Item> = []
  const grow = async (cursor?: string) => {
    const page = await read(cursor)
    items = [...items, ...page.items]
    fill(place, ...show(items), said, page.next === null ? undefined : more(page.next))
  }
  const more = (cursor: string): HTMLElement => {
    const label = "Show more"
    const asker = button(
      label,
      () => {
        asker.disabled = true
        asker.textContent = "Loading…"
        fill(said)
        grow(cursor).catch((error: unknown) => {
          asker.disabled = false
          asker.textContent = label
          fill(said, notice("bad", words(error)))
        })
      },
      "plain"
    )
    return el("div", { class: "actions" }, asker)
  }
  await grow()
  return place
}
