/**
 * Buttons of a signed-in developer that add tools to the account's toolbox or remove them.
 */
import { type ComponentChildren, render } from "preact"
import { useState } from "preact/hooks"
import { ActionButton } from "../console/ActionButton.browser.ts"
import { consoleApi } from "../console/ConsoleContext.browser.ts"
import { h, Notice } from "../console/View.browser.ts"
import type { Toolbox } from "../kit/ApiResponses.browser.ts"

const TOOLBOX = "/api/market/toolbox"

/** Fills every element with `data-toolbox`, the ID of a tool, and `data-name`. */
export const showToolboxButtons = async (): Promise<void> => {
  const places = [...document.querySelectorAll<HTMLElement>("[data-toolbox]")]
  if (places.length === 0) return
  // Where the key is not accepted any more, the page works without the buttons.
  const toolbox = await consoleApi("consumer")
    .get<Toolbox>(TOOLBOX)
    .catch(() => undefined)
  if (toolbox === undefined) return
  const chosen = new Set<string>(toolbox.source === "account" ? toolbox.tools.map(({ tool_id }) => tool_id) : [])
  for (const place of places) {
    const { name = "", toolbox: id = "" } = place.dataset
    render(h(ToolboxButton, { id, name, isChosenAtFirst: chosen.has(id) }), place)
  }
}

interface ToolboxButtonProps {
  readonly id: string
  readonly name: string
  readonly isChosenAtFirst: boolean
}

const ToolboxButton = ({ id, isChosenAtFirst, name }: ToolboxButtonProps): ComponentChildren => {
  const [isChosen, setChosen] = useState(isChosenAtFirst)
  const [status, setStatus] = useState<ComponentChildren>()
  const api = consoleApi("consumer")
  const label = isChosen ? "Remove from toolbox" : "Add to toolbox"
  return [
    h(ActionButton, {
      label,
      name: `${label}: ${name}`,
      style: "plain tiny",
      show: (style, content) => setStatus(content === undefined ? undefined : h(Notice, { style }, content)),
      run: async (idempotencyKey) => {
        if (isChosen) await api.delete(`${TOOLBOX}/${id}`, idempotencyKey)
        else await api.post(TOOLBOX, { tools: [id] }, idempotencyKey)
        setChosen(!isChosen)
        return isChosen ? "Removed from your toolbox." : "Added to your toolbox. Your agents find this tool at /mcp."
      }
    }),
    h("div", { "aria-live": "polite" }, status)
  ]
}
