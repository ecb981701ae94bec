/**
 * One dispute, below the way back to all of them.
 */
import { type ComponentChildren, Fragment } from "preact"
import { useConsole } from "./ConsoleContext.browser.ts"
import { pathTo } from "./Place.browser.ts"
import { Loaded, useResource } from "./Resource.browser.ts"
import { h, type View } from "./View.browser.ts"

export interface DisputeDetailProps<Found> {
  /** Of all disputes in the API. */
  readonly path: string
  readonly id: string
  readonly show: (dispute: Found, reload: () => Promise<void>) => ComponentChildren
}

export const DisputeDetail = <Found>({ id, path, show }: DisputeDetailProps<Found>): View => {
  const { api } = useConsole()
  const dispute = useResource(() => api.get<Found>(`${path}/${encodeURIComponent(id)}`), [path, id])
  return h(
    Fragment,
    null,
    h("a", { href: pathTo("disputes"), class: "back" }, "← All disputes"),
    h(Loaded<Found>, { of: dispute, show: (found) => show(found, dispute.reload) })
  )
}
