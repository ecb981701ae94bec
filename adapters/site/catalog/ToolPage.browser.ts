/**
 * The interactive parts of a tool's page: call form, service levels, configurations of MCP clients.
 */
import { render } from "preact"
import { connectPage } from "../connect/ConnectTabs.browser.ts"
import { Loaded, useResource } from "../console/Resource.browser.ts"
import { Empty } from "../console/Values.browser.ts"
import { h, type View } from "../console/View.browser.ts"
import { request } from "../kit/ApiRequest.browser.ts"
import type { ToolSla } from "../kit/ApiResponses.browser.ts"
import { showLocalTimes } from "../kit/LocalTimes.browser.ts"
import { CallSection } from "./CallForm.browser.ts"

/** What a tool achieved in the last 30 days. The charts are loaded only where there were calls. */
export const ToolServiceLevels = ({ toolId }: { readonly toolId: string }): View => {
  const levels = useResource(async () => {
    const sla = await request<ToolSla>("GET", `/api/v1/market/tools/${toolId}/sla`)
    if (sla.total_calls_30d === 0) return h(Empty, null, "No calls in the last 30 days.")
    const { ServiceLevelCharts } = await import("./ServiceLevelCharts.browser.ts")
    return h(ServiceLevelCharts, { sla })
  }, [toolId])
  return h(Loaded<View>, { of: levels, show: (view) => view })
}

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
