/**
 * A dashboard: whose it is, the way to each of its parts, and the parts, each of which loads by itself.
 */
import { el, fill } from "./Dom.browser.ts"
import type { Panel } from "./Panel.browser.ts"
import { type Role, signOut } from "./Session.browser.ts"

export const showDashboard = (place: HTMLElement, role: Role, name: string, parts: ReadonlyArray<Panel>): void => {
  const sections = parts.map(({ element }) => element)
  fill(
    place,
    el("div", { class: "toolbar" }, el("p", { class: "muted" }, `Signed in as ${name}.`), signOut(role)),
    el(
      "nav",
      { class: "jump", "aria-label": "On this page" },
      sections.map((section) =>
        // Where a part is not shown, neither is the way to it.
        el(
          "a",
          { href: `#${section.id}`, class: section.className.replace("panel", "") },
          section.querySelector("h2")?.textContent ?? section.id
        )
      )
    ),
    sections
  )
}
