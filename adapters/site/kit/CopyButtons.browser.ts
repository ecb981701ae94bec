/**
 * The copy buttons of pages from the server.
 */
import { copyText } from "./CopiedText.browser.ts"

for (const button of document.querySelectorAll<HTMLButtonElement>("button[data-copy]")) {
  const label = button.textContent
  button.hidden = false
  button.addEventListener("click", () => {
    const text = button.parentElement?.querySelector<HTMLElement>("code")
    if (text === null || text === undefined) return
    void copyText(text, label, (shown) => {
      button.textContent = shown
    })
  })
}
