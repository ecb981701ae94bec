/**
 * The first steps of a new provider.
 */
import { type ComponentChildren } from "preact"
import { Badge } from "../../console/Badge.browser.ts"
import { CodeBlock } from "../../console/Copyable.browser.ts"
import { pathTo } from "../../console/Place.browser.ts"
import { h, type View } from "../../console/View.browser.ts"
import type { ProviderOverview } from "../../kit/ApiResponses.browser.ts"
import { curl } from "../../kit/Curl.browser.ts"

export const isStarted = ({ calls_in_all: calls, listed_tools: tools }: ProviderOverview): boolean =>
  tools > 0 && calls > 0

export const GetStarted = (overview: ProviderOverview): View =>
  h(
    "section",
    { id: "start" },
    h("h2", null, "Get started"),
    h(
      "ol",
      { class: "steps" },
      step(
        overview.listed_tools > 0,
        "List a tool",
        h("a", { href: pathTo("tools", "import") }, "Import the tools of your MCP server"),
        ", or ",
        h("a", { href: pathTo("tools", "new") }, "list one by hand"),
        "."
      ),
      step(
        overview.calls_in_all > 0,
        "Receive the first call",
        "Your tools are in the ",
        h("a", { href: "/catalog" }, "catalog"),
        ". To test a call, ",
        h("a", { href: "/developers/register" }, "register as a developer"),
        " and call your tool with that key:",
        h(CodeBlock, {
          text: curl("/api/market/proxy", "$CONSUMER_KEY", {
            tool_name: overview.qualified_name ?? "<your handle>/search",
            input: {}
          })
        })
      ),
      step(
        overview.verification_level !== "unverified",
        "Verify your identity",
        "Verification raises your trust score. ",
        h("a", { href: pathTo("trust") }, "Verify")
      ),
      step(
        overview.payout_account_complete,
        "Set up payouts",
        "See what you earn and how you are paid in ",
        h("a", { href: pathTo("earnings") }, "Earnings and payouts"),
        "."
      )
    )
  )

const step = (isDone: boolean, title: string, ...details: ReadonlyArray<ComponentChildren>): View =>
  h(
    "li",
    { key: title },
    h("strong", null, title),
    " ",
    isDone ? h(Badge, { label: "Done", style: "good" }) : h("div", null, ...details)
  )
