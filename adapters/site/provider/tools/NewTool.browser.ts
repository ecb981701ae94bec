/**
 * Lists a tool by hand.
 */
import { Fragment } from "preact"
import { announce } from "../../console/Announcements.browser.ts"
import { go, pathTo } from "../../console/Place.browser.ts"
import { h, type View } from "../../console/View.browser.ts"
import { ToolForm } from "./ToolForm.browser.ts"

export const NewTool = (): View =>
  h(
    Fragment,
    null,
    h("h2", null, "List a tool"),
    h(
      "p",
      { class: "muted" },
      "Your MCP server must list the tool under the same name. Empty fields use the defaults."
    ),
    h(ToolForm, {
      id: "new-tool",
      tool: undefined,
      saved: async ({ tool_name: name }) => {
        go(pathTo("tools"))
        announce("good", `${name} is listed.`)
      }
    })
  )
