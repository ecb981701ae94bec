/**
 * A list that is loaded page by page.
 */
import { errorMessage } from "./ApiRequest.browser.ts"
import { button, el, fill, notice } from "./Dom.browser.ts"

export const pagedList = async <Page extends { readonly next_cursor: string | null }, Item>(
  read: (cursor: string | undefined) => Promise<Page>,
  itemsOf: (page: Page) => ReadonlyArray<Item>,
  show: (items: ReadonlyArray<Item>) => Node
): Promise<HTMLElement> => {
  const place = el("div")
  const status = el("div", { "aria-live": "polite" })
  let items: ReadonlyArray<Item> = []
  const load = async (cursor?: string) => {
    const page = await read(cursor)
    items = [...items, ...itemsOf(page)]
    fill(place, show(items), status, page.next_cursor === null ? undefined : more(page.next_cursor))
  }
  const more = (cursor: string): HTMLElement => {
    const label = "Show more"
    const shown = button(
      label,
      () => {
        shown.disabled = true
        shown.textContent = "Loading…"
        fill(status)
        load(cursor).catch((error: unknown) => {
          shown.disabled = false
          shown.textContent = label
          fill(status, notice("bad", errorMessage(error)))
        })
      },
      "plain"
    )
    return el("div", { class: "actions" }, shown)
  }
  await load()
  return place
}
