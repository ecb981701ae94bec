/**
 * The result of an operation, at the top of the page until the next one or until the reader goes to another tab.
 */
import { effect, signal } from "@preact/signals"
import { type ComponentChildren } from "preact"
import { Notice } from "./Badge.browser.ts"
import { place } from "./Place.browser.ts"
import { h, type View } from "./View.browser.ts"

interface Announcement {
  readonly style: "good" | "bad"
  readonly content: ComponentChildren
}

const shown = signal<Announcement | undefined>(undefined)

export const announce = (style: Announcement["style"], content: ComponentChildren): void => {
  shown.value = { style, content }
}

export const clearAnnouncement = (): void => {
  shown.value = undefined
}

let seenAt: string | undefined
effect(() => {
  const { detail, tab } = place.value
  const at = `${tab ?? ""}/${detail ?? ""}`
  if (at !== seenAt) clearAnnouncement()
  seenAt = at
})

export const Announcements = (): View => {
  const current = shown.value
  return h(
    "div",
    { class: "announcements", "aria-live": "polite" },
    current === undefined
      ? undefined
      : h(
          "div",
          { class: "dismissible" },
          h(Notice, { style: current.style }, current.content),
          h("button", { type: "button", class: "tiny plain", onClick: clearAnnouncement }, "Dismiss")
        )
  )
}
