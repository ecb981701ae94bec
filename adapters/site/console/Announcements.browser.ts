/**
 * Readers learn the result of an operation at the top of the page, until the next one or until they go to another tab,
 * and the focus goes where they continue.
 */
import { effect, signal } from "@preact/signals"
import type { ComponentChildren, RefObject } from "preact"
import { useEffect } from "preact/hooks"
import { place } from "./Place.browser.ts"
import { h, Notice, type View } from "./View.browser.ts"

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

/**
 * Moves the focus to the heading of the closest remaining part of the page when a form or a button is removed by its
 * own success, so that people who use a keyboard or a screen reader stay where they are. `isFocusLost`: set from the
 * start of an operation, which disables its button, until the button is enabled again.
 */
export const useFocusAfterRemoval = (ref: RefObject<HTMLElement | null>, isFocusLost: RefObject<unknown>): void => {
  useEffect(() => {
    const element = ref.current
    const around = ancestorsOf(element)
    return () => {
      const hasFocus = element?.contains(document.activeElement) === true
      if (hasFocus || Boolean(isFocusLost.current)) requestAnimationFrame(() => focusHeadingIn(around))
    }
  }, [])
}

const ancestorsOf = (element: HTMLElement | null): ReadonlyArray<HTMLElement> => {
  const all: Array<HTMLElement> = []
  for (let one = element?.parentElement; one; one = one.parentElement) all.push(one)
  return all
}

const focusHeadingIn = (around: ReadonlyArray<HTMLElement>): void => {
  const { activeElement } = document
  if (activeElement !== null && activeElement !== document.body) return
  for (const one of around) {
    const heading = one.isConnected ? one.querySelector<HTMLElement>("h1, h2") : null
    if (heading === null) continue
    heading.tabIndex = -1
    return heading.focus({ preventScroll: true })
  }
}
