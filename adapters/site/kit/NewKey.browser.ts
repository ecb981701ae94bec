/**
 * A new key, shown once: to copy, to keep as a file, and in the next command, ready to paste.
 */
import { button, el } from "./Dom.browser.ts"
import { copy } from "./CopyButtons.browser.ts"

/** As the documentation's examples name it. */
const variableOf = (key: string): string => (key.startsWith("atb_p_") ? "PROVIDER_KEY" : "CONSUMER_KEY")

export const keyShown = (key: string, ownerId: string): HTMLElement => {
  const shown = el("code", { class: "secret", id: "new-key" }, key)
  const copier = button("Copy the key", () => void copy(shown, copier))
  return el(
    "div",
    { class: "card" },
    el(
      "p",
      {},
      el("strong", {}, "Your key. "),
      "It is shown here once and nowhere again: the service keeps only its digest."
    ),
    el("p", {}, shown),
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
        "Download it"
      )
    )
  )
}

/** A command with its button. */
export const command = (text: string): HTMLElement => {
  const code = el("code", {}, text)
  const copier = button("Copy", () => void copy(code, copier), "tiny")
  return el("div", { class: "copyable" }, el("pre", {}, code), copier)
}
