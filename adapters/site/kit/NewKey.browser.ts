/**
 * Shows a new API key once, to copy or download.
 */
import { button, el } from "./Dom.browser.ts"
import { copy } from "./CopyButtons.browser.ts"

/** The variable that the documentation's examples use. */
const variableOf = (key: string): string => (key.startsWith("atb_p_") ? "PROVIDER_KEY" : "CONSUMER_KEY")

export const newKeyCard = (key: string, ownerId: string): HTMLElement => {
  const shown = el("code", { class: "secret", id: "new-key" }, key)
  const copier = button("Copy key", () => void copy(shown, copier))
  return el(
    "div",
    { class: "card" },
    el("p", el("strong", "Your API key. "), "Save it now: it is shown only once."),
    el("p", shown),
    el(
      "div",
      { class: "actions" },
      copier,
      el(
        "a",
        {
          class: "button plain",
          download: `agent-tool-billing-${ownerId.slice(0, 8)}.env`,
          href: URL.createObjectURL(new Blob([`${variableOf(key)}=${key}\n`], { type: "text/plain" }))
        },
        "Download .env file"
      )
    )
  )
}
