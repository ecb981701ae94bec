/**
 * The address bar names a tab, row and filters of a console. Links within the console change it without loading the
 * page again; reloading and the back button work as on other sites.
 */
import { signal } from "@preact/signals"

export interface Place {
  /** Undefined on the first tab, whose address is the console's own. */
  readonly tab: string | undefined
  /** Names the row whose details are shown. */
  readonly detail: string | undefined
  readonly query: URLSearchParams
}

/** Path of the console, such as `/developer`. */
let base = ""

export const place = signal<Place>({ tab: undefined, detail: undefined, query: new URLSearchParams() })

/** `tab` and `detail` as in `Place`. */
export const pathTo = (tab?: string, detail?: string): string =>
  [base, tab, detail === undefined ? undefined : encodeURIComponent(detail)]
    .filter((part) => part !== undefined)
    .join("/")

export const go = (href: string): void => {
  history.pushState(null, "", href)
  update()
  scrollTo(0, 0)
}

/** Filters do not add entries to the history. An empty value removes its name. */
export const setQuery = (values: Readonly<Record<string, string>>): void => {
  const query = new URLSearchParams(location.search)
  for (const [name, value] of Object.entries(values)) {
    if (value === "") query.delete(name)
    else query.set(name, value)
  }
  const text = query.toString()
  history.replaceState(null, "", text === "" ? location.pathname : `${location.pathname}?${text}`)
  update()
}

/** Call it once, before anything is shown. */
export const followPlace = (path: string): void => {
  base = path
  update()
  addEventListener("popstate", update)
  document.addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest("a") : null
    if (link === null || !isWithin(link) || !isPlain(event)) return
    event.preventDefault()
    go(link.href)
  })
}

const update = (): void => {
  const [tab, detail] = location.pathname.slice(base.length).split("/").filter(Boolean)
  place.value = {
    tab,
    detail: detail === undefined ? undefined : decoded(detail),
    query: new URLSearchParams(location.search)
  }
}

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

const isWithin = (link: HTMLAnchorElement): boolean =>
  link.origin === location.origin &&
  (link.pathname === base || link.pathname.startsWith(`${base}/`)) &&
  link.target === "" &&
  !link.hasAttribute("download") &&
  link.hash === ""

/** Other clicks open a new tab or window. */
const isPlain = (event: MouseEvent): boolean =>
  event.button === 0 && !event.defaultPrevented && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey
