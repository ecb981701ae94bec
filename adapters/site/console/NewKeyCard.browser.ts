/**
 * Shows a new API key once, to copy or download.
 */
import { h, useCopy, type View } from "./View.browser.ts"

/** The variable that the documentation's examples use. */
const variableOf = (key: string): string => (key.startsWith("atb_p_") ? "PROVIDER_KEY" : "CONSUMER_KEY")

export const NewKeyCard = ({ apiKey, ownerId }: { readonly apiKey: string; readonly ownerId: string }): View => {
  const { copy, shown, source } = useCopy("Copy key")
  return h(
    "div",
    { class: "card" },
    h("p", null, h("strong", null, "Your API key. "), "Save it now: it is shown only once."),
    h("p", null, h("code", { class: "secret", id: "new-key", ref: source }, apiKey)),
    h(
      "div",
      { class: "actions" },
      h("button", { type: "button", onClick: () => void copy() }, shown),
      h(
        "a",
        {
          class: "button plain",
          download: `agent-tool-billing-${ownerId.slice(0, 8)}.env`,
          href: `data:text/plain,${encodeURIComponent(`${variableOf(apiKey)}=${apiKey}\n`)}`
        },
        "Download .env file"
      )
    )
  )
}
