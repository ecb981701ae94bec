/**
 * The layout of a dashboard: account, navigation and panels.
 */
import { el, fill } from "./Dom.browser.ts"
import type { Panel } from "./Panel.browser.ts"
import { type Role, signOutButton } from "./Session.browser.ts"

export const showDashboard = (place: HTMLElement, role: Role, name: string, panels: ReadonlyArray<Panel>): void => {
  const sections = panels.map(({ element }) => element)
  fill(
    place,
    el("div", { class: "toolbar" }, el("p", { class: "muted" }, `Signed in as ${name}.`), signOutButton(role)),
    el(
      "nav",
      { class: "jump", "aria-label": "On this page" },
      sections.map((section) =>
        // The classes that hide a panel also hide its link.
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
