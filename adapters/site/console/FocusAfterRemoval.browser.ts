/**
 * Where the focus goes when a form or a button is removed by its own success: to the heading of the closest part of the page
 * that is left, so that people who use a keyboard or a screen reader stay where they are.
 */
import { type RefObject } from "preact"
import { useEffect } from "preact/hooks"

/** `isFocusLost`: set from the start of an operation, which disables its button, until the button is enabled again. */
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
