/**
 * Buttons of a signed-in developer that add tools to the account's toolbox or remove them. Without a key there are none.
 */
import { accountApi } from "./AccountApi.browser.ts"
import { actionButton, statusArea } from "./Action.browser.ts"
import type { Toolbox } from "./ApiResponses.browser.ts"
import { el, fill, restoreFocus } from "./Dom.browser.ts"
import { storedKey } from "./Session.browser.ts"

const TOOLBOX = "/api/market/toolbox"

/** Fills every element with `data-toolbox`, the ID of a tool, and `data-name`. */
export const showToolboxButtons = async (): Promise<void> => {
  const places = [...document.querySelectorAll<HTMLElement>("[data-toolbox]")]
  if (places.length === 0 || storedKey("consumer") === undefined) return
  // Where the key is not accepted any more, the page works without the buttons.
  const toolbox = await accountApi("consumer")
    .get<Toolbox>(TOOLBOX)
    .catch(() => undefined)
  if (toolbox === undefined) return
  const chosen = new Set<string>(toolbox.source === "account" ? toolbox.tools.map(({ tool_id }) => tool_id) : [])
  for (const place of places) showButton(place, chosen.has(place.dataset["toolbox"]!))
}

const showButton = (place: HTMLElement, isChosenAtFirst: boolean): void => {
  const { name, toolbox: id } = place.dataset
  const api = accountApi("consumer")
  const status = statusArea()
  const slot = el("span")
  const show = (isChosen: boolean): void => {
    const label = isChosen ? "Remove from toolbox" : "Add to toolbox"
    const made = actionButton({
      label,
      name: `${label}: ${name!}`,
      style: "plain tiny",
      status,
      run: async (idempotencyKey) => {
        if (isChosen) await api.delete(`${TOOLBOX}/${id!}`, idempotencyKey)
        else await api.post(TOOLBOX, { tools: [id] }, idempotencyKey)
        show(!isChosen)
        restoreFocus(slot.querySelector("button"))
        return isChosen ? "Removed from your toolbox." : "Added to your toolbox. Your agents find this tool at /mcp."
      }
    })
    fill(slot, made)
  }
  show(isChosenAtFirst)
  fill(place, slot, status)
}
