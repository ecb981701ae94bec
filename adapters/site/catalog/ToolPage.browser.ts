/**
 * The interactive parts of a tool's page: call form, service levels, configurations of MCP clients.
 */
import { render } from "preact"
import { connectPage } from "../connect/ConnectTabs.browser.ts"
import { h } from "../console/View.browser.ts"
import { showLocalTimes } from "../kit/LocalTimes.browser.ts"
import { CallSection } from "./CallSection.browser.ts"
import { ToolServiceLevels } from "./ToolServiceLevels.browser.ts"

/** Withdrawn tools have no call form. */
const callPlace = document.querySelector<HTMLElement>("#call")
if (callPlace !== null) {
  const root = document.createElement("div")
  // The command of the server stays until the form replaces it.
  const command = [...callPlace.children]
  callPlace.prepend(root)
  const { price = "", sample = "{}", tool = "" } = callPlace.dataset
  render(
    h(CallSection, { toolId: tool, price, sample, shown: () => command.forEach((element) => element.remove()) }),
    root
  )
}

const levelsPlace = document.querySelector<HTMLElement>("#sla")
if (levelsPlace !== null) render(h(ToolServiceLevels, { toolId: levelsPlace.dataset["tool"]! }), levelsPlace)

connectPage()
showLocalTimes()
