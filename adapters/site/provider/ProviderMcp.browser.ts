/**
 * The endpoint of the provider's MCP server here, and which of its features are offered.
 */
import { accountApi } from "../kit/AccountApi.browser.ts"
import { actionButton, statusArea } from "../kit/Action.browser.ts"
import type { McpFeatures } from "../kit/ApiResponses.browser.ts"
import { badge, el } from "../kit/Dom.browser.ts"
import { type Panel, panel } from "../kit/Panel.browser.ts"
import { table } from "../kit/Table.browser.ts"

const PATH = "/api/v1/market/mcp-features"

type Feature = McpFeatures["features_off"][number]

const FEATURES: ReadonlyArray<readonly [feature: Feature, label: string]> = [
  ["resources", "Resources"],
  ["prompts", "Prompts"],
  ["completions", "Completions"],
  ["logging", "Log messages"]
]

export const mcpPanel = (): Panel => {
  const status = statusArea()
  const switchOf = (off: ReadonlyArray<Feature>, feature: Feature, label: string) => {
    const isOff = off.includes(feature)
    return actionButton({
      label: isOff ? "Turn on" : "Turn off",
      name: `Turn ${isOff ? "on" : "off"} ${label.toLowerCase()}`,
      style: "tiny plain",
      status,
      run: async (idempotencyKey) => {
        const features_off = isOff ? off.filter((one) => one !== feature) : [...off, feature]
        await accountApi("provider").post<McpFeatures>(PATH, { features_off }, idempotencyKey)
        await made.reload()
        return `${label} are turned ${isOff ? "on" : "off"}.`
      }
    })
  }
  const made = panel("mcp", "MCP endpoint", async () => {
    const { features_off: off, mcp_url: url } = await accountApi("provider").get<McpFeatures>(PATH)
    return [
      status,
      el("p", { class: "narrow" }, "Agents use your MCP server at ", el("code", url), "."),
      el(
        "p",
        { class: "narrow muted" },
        "Besides tools they get what your server declares. A feature that is turned off is not offered."
      ),
      table(
        "Features",
        [
          { name: "Feature", cell: ([, label]: (typeof FEATURES)[number]) => label },
          { name: "Status", cell: ([feature]) => (off.includes(feature) ? badge("Off") : badge("On", "good")) },
          { name: "", cell: ([feature, label]) => switchOf(off, feature, label) }
        ],
        FEATURES
      )
    ]
  })
  return made
}
