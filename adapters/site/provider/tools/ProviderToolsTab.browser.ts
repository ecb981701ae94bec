/**
 * The provider's tools; one tool, a new one, and the import are pages of their own.
 */
import { Fragment } from "preact"
import type { TabProps } from "../../console/ConsoleContext.browser.ts"
import { pathTo } from "../../console/Place.browser.ts"
import { h, type View } from "../../console/View.browser.ts"
import { ImportTools } from "./ImportTools.browser.ts"
import { NewTool } from "./NewTool.browser.ts"
import { ToolDetail } from "./ToolDetail.browser.ts"
import { ToolList } from "./ToolList.browser.ts"

export const tab = ({ detail }: TabProps): View =>
  detail === undefined
    ? h(ToolList, null)
    : h(Fragment, null, h("a", { href: pathTo("tools"), class: "back" }, "← All tools"), pageOf(detail))

/** IDs of tools are UUIDs. */
const pageOf = (detail: string): View => {
  switch (detail) {
    case "new":
      return h(NewTool, null)
    case "import":
      return h(ImportTools, null)
    default:
      return h(ToolDetail, { key: detail, id: detail })
  }
}
