/**
 * How to connect an MCP client to the tools of all providers.
 */
import { Fragment } from "preact"
import { ConnectTabs } from "../../connect/ConnectTabs.browser.ts"
import { useConsole } from "../../console/ConsoleContext.browser.ts"
import { h, type View } from "../../console/View.browser.ts"

export const tab = (): View => {
  const { data } = useConsole()
  return h(
    Fragment,
    null,
    h("div", { id: "connect", class: "connect" }, h(ConnectTabs, { data: data["connect"]! })),
    h(
      "p",
      { class: "small muted" },
      "To connect to one provider's server, see its page in the ",
      h("a", { href: "/catalog" }, "catalog"),
      "."
    )
  )
}
