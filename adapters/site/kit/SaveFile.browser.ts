/**
 * Saves content as a file.
 */
import { el } from "./Dom.browser.ts"

/** Browsers read the file after the click has returned. */
const KEPT_MS = 60_000

export const saveFile = (name: string, content: string | Blob): void => {
  const href = URL.createObjectURL(typeof content === "string" ? new Blob([content], { type: "text/plain" }) : content)
  el("a", { href, download: name }).click()
  setTimeout(() => URL.revokeObjectURL(href), KEPT_MS)
}
