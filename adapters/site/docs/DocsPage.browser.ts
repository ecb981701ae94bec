/**
 * Scripts add to the documentation: tabs of examples, an open list of the page's headings on wide screens, the way from
 * anchors of the former single page, and the search.
 */
import { startSearch } from "./DocsSearch.browser.ts"

const LANGUAGE = "agent-tool-billing.docs.language"

/** Storage may be turned off. */
const remembered = (): string | null => {
  try {
    return localStorage.getItem(LANGUAGE)
  } catch {
    return null
  }
}
const remember = (language: string): void => {
  try {
    localStorage.setItem(LANGUAGE, language)
  } catch {
    // The choice applies to this page only.
  }
}

const tabGroups: Array<(language: string) => void> = []

const makeTabs = (group: HTMLElement, index: number): void => {
  const panels = [...group.querySelectorAll<HTMLElement>(":scope > figure")]
  const list = document.createElement("div")
  list.setAttribute("role", "tablist")
  list.setAttribute("aria-label", group.dataset["tabs"] ?? "")
  const tabs = panels.map((panel, at) => {
    const caption = panel.querySelector("figcaption")!
    const tab = document.createElement("button")
    tab.type = "button"
    tab.id = `tab-${index}-${at}`
    tab.setAttribute("role", "tab")
    tab.textContent = caption.textContent
    caption.remove()
    panel.id = `panel-${index}-${at}`
    panel.setAttribute("role", "tabpanel")
    panel.setAttribute("aria-labelledby", tab.id)
    tab.setAttribute("aria-controls", panel.id)
    return tab
  })
  const select = (language: string): void => {
    const chosen = Math.max(
      0,
      tabs.findIndex((tab) => tab.textContent === language)
    )
    for (const [at, tab] of tabs.entries()) {
      tab.setAttribute("aria-selected", String(at === chosen))
      tab.tabIndex = at === chosen ? 0 : -1
      panels[at]!.hidden = at !== chosen
    }
  }
  const choose = (tab: HTMLElement): void => {
    remember(tab.textContent)
    for (const other of tabGroups) other(tab.textContent)
    tab.focus()
  }
  list.addEventListener("click", (event) => {
    if (event.target instanceof HTMLElement && tabs.includes(event.target as HTMLButtonElement)) choose(event.target)
  })
  list.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
    const at = tabs.indexOf(document.activeElement as HTMLButtonElement)
    if (step === undefined || at < 0) return
    event.preventDefault()
    choose(tabs[(at + step + tabs.length) % tabs.length]!)
  })
  list.append(...tabs)
  group.prepend(list)
  tabGroups.push(select)
}

for (const [index, group] of document.querySelectorAll<HTMLElement>("[data-tabs]").entries()) makeTabs(group, index)
const language = remembered() ?? "curl"
for (const select of tabGroups) select(language)

const WIDE = "(min-width:75rem)"
const toc = document.querySelector<HTMLDetailsElement>("details.toc")
if (toc !== null) toc.open = matchMedia(WIDE).matches

/** The navigation is longer than the window. */
const contents = document.querySelector<HTMLElement>("nav.contents")
const current = contents?.querySelector<HTMLElement>("[aria-current]")
if (contents !== null && current !== null && current !== undefined) {
  contents.scrollTop = current.offsetTop - contents.clientHeight / 2
}

/** Anchors of the single page that the documentation was. */
const moved = (): void => {
  const target = location.hash.length < 2 ? null : document.getElementById(decodeURIComponent(location.hash.slice(1)))
  const link = target?.matches("[data-moved]") === true ? target.querySelector("a") : null
  if (link !== null) location.replace(link.href)
}
moved()
addEventListener("hashchange", moved)

startSearch()
