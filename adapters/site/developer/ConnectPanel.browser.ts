/**
 * How to connect an MCP client to the tools of all providers.
 */
import { connectTabs } from "../connect/ConnectTabs.browser.ts"
import { byId, el } from "../kit/Dom.browser.ts"
import { type Panel, panel } from "../kit/Panel.browser.ts"

export const connectPanel = (): Panel => {
  const place = el("div", { class: "connect" })
  connectTabs(place, byId("dashboard").dataset["connect"]!)
  const more = el(
    "p",
    { class: "small muted" },
    "To connect to one provider's server, see its page in the ",
    el("a", { href: "/catalog" }, "catalog"),
    "."
  )
  return panel("connect", "Connect an MCP client", () => Promise.resolve([place, more]))
}
