/**
 * What a tool achieved in the last 30 days. The charts are loaded only where there were calls.
 */
import { Empty } from "../console/Badge.browser.ts"
import { Loaded, useResource } from "../console/Resource.browser.ts"
import { h, type View } from "../console/View.browser.ts"
import { request } from "../kit/ApiRequest.browser.ts"
import type { ToolSla } from "../kit/ApiResponses.browser.ts"

export const ToolServiceLevels = ({ toolId }: { readonly toolId: string }): View => {
  const levels = useResource(async () => {
    const sla = await request<ToolSla>("GET", `/api/v1/market/tools/${toolId}/sla`)
    if (sla.total_calls_30d === 0) return h(Empty, null, "No calls in the last 30 days.")
    const { ServiceLevelCharts } = await import("./ServiceLevelCharts.browser.ts")
    return h(ServiceLevelCharts, { sla })
  }, [toolId])
  return h(Loaded<View>, { of: levels, show: (view) => view })
}
