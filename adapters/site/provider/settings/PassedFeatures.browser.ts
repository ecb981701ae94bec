/**
 * The endpoint of the provider's MCP server here, and which of its features are passed on to agents.
 */
import { Fragment } from "preact"
import { ActionButton } from "../../console/ActionButton.browser.ts"
import { Badge } from "../../console/Badge.browser.ts"
import { CopyValue } from "../../console/Copyable.browser.ts"
import { useConsole } from "../../console/ConsoleContext.browser.ts"
import { type Column, DataTable } from "../../console/DataTable.browser.ts"
import { Loaded, useResource } from "../../console/Resource.browser.ts"
import { h, type View } from "../../console/View.browser.ts"
import type { McpFeatures } from "../../kit/ApiResponses.browser.ts"

const PATH = "/api/v1/market/mcp-features"

type Feature = McpFeatures["features_off"][number]
type NamedFeature = readonly [feature: Feature, label: string]

const FEATURES: ReadonlyArray<NamedFeature> = [
  ["resources", "Resources"],
  ["prompts", "Prompts"],
  ["completions", "Completions"],
  ["logging", "Log messages"]
]

export const PassedFeatures = (): View => {
  const { api } = useConsole()
  const features = useResource(() => api.get<McpFeatures>(PATH), [])
  return h(
    "section",
    { id: "mcp" },
    h("h2", null, "MCP endpoint"),
    h(Loaded<McpFeatures>, {
      of: features,
      show: ({ features_off: off, mcp_url: url }) =>
        h(
          Fragment,
          null,
          h("p", null, "Agents use your MCP server at ", h(CopyValue, { name: "endpoint", text: url }), "."),
          h(
            "p",
            { class: "narrow muted" },
            "Besides tools they get what your server declares. A feature that is turned off is not offered."
          ),
          h(DataTable<NamedFeature>, {
            caption: "Features",
            columns: columnsOf(off, features.reload),
            rows: FEATURES,
            keyOf: ([feature]) => feature
          })
        )
    })
  )
}

const columnsOf = (off: ReadonlyArray<Feature>, changed: () => Promise<void>): ReadonlyArray<Column<NamedFeature>> => [
  { name: "Feature", cell: ([, label]) => label },
  {
    name: "Status",
    cell: ([feature]) => (off.includes(feature) ? h(Badge, { label: "Off" }) : h(Badge, { label: "On", style: "good" }))
  },
  { name: "", cell: ([feature, label]) => h(FeatureSwitch, { feature, label, off, changed }) }
]

interface FeatureSwitchProps {
  readonly feature: Feature
  readonly label: string
  readonly off: ReadonlyArray<Feature>
  readonly changed: () => Promise<void>
}

const FeatureSwitch = ({ changed, feature, label, off }: FeatureSwitchProps): View => {
  const { api } = useConsole()
  const isOff = off.includes(feature)
  return h(ActionButton, {
    label: isOff ? "Turn on" : "Turn off",
    name: `Turn ${isOff ? "on" : "off"} ${label.toLowerCase()}`,
    style: "tiny plain",
    run: async (idempotencyKey) => {
      const features_off = isOff ? off.filter((one) => one !== feature) : [...off, feature]
      await api.post<McpFeatures>(PATH, { features_off }, idempotencyKey)
      await changed()
      return `${label} are turned ${isOff ? "on" : "off"}.`
    }
  })
}
