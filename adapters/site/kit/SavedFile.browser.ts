/**
 * Saves a file that the page has made.
 */

/** Browsers read the file after the click has returned. */
const KEPT_MS = 60_000

export const saveFile = (name: string, content: string | Blob): void => {
  const href = URL.createObjectURL(typeof content === "string" ? new Blob([content], { type: "text/plain" }) : content)
  const link = document.createElement("a")
  link.href = href
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(href), KEPT_MS)
}
