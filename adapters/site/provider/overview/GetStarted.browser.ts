/**
 * The first steps of a new provider.
 */
import { type ComponentChildren } from "preact"
import { Badge } from "../../console/Badge.browser.ts"
import type { ConsoleApi } from "../../console/ConsoleApi.browser.ts"
import type { ConsoleAccount } from "../../console/ConsoleContext.browser.ts"
import { CodeBlock } from "../../console/Copyable.browser.ts"
import { pathTo } from "../../console/Place.browser.ts"
import { h, type View } from "../../console/View.browser.ts"
import type { Connection, OwnTools } from "../../kit/ApiResponses.browser.ts"
import { curl } from "../../kit/Curl.browser.ts"
import { readEarnings } from "../earnings/EarningsRequest.browser.ts"
import { CONNECT_PATH } from "../earnings/PayoutTerms.browser.ts"
import { TOOLS_PATH } from "../tools/ToolRequests.browser.ts"
import { readTrust } from "../trust/TrustRequest.browser.ts"

export interface Steps {
  readonly hasListed: boolean
  readonly hasCalls: boolean
  readonly isVerified: boolean
  readonly canBePaid: boolean
  /** A listed tool. */
  readonly toolName: string | undefined
}

export const readSteps = async (api: ConsoleApi, account: ConsoleAccount): Promise<Steps> => {
  const [listed, earnings, trust, connection] = await Promise.all([
    // The catalog has no tools of a frozen provider.
    api.get<OwnTools>(TOOLS_PATH, { limit: 1, state: "listed" }),
    readEarnings(api, "all"),
    readTrust(account.id),
    api.get<Connection>(CONNECT_PATH)
  ])
  return {
    hasListed: listed.total > 0,
    hasCalls: earnings.total_calls > 0,
    isVerified: trust.details.verification_level !== "unverified",
    canBePaid: connection.connected,
    toolName: listed.tools[0]?.qualified_name
  }
}

export const GetStarted = ({ steps }: { readonly steps: Steps }): View =>
  h(
    "section",
    { id: "start" },
    h("h2", null, "Get started"),
    h(
      "ol",
      { class: "steps" },
      step(
        steps.hasListed,
        "List a tool",
        h("a", { href: pathTo("tools", "import") }, "Import the tools of your MCP server"),
        ", or ",
        h("a", { href: pathTo("tools", "new") }, "list one by hand"),
        "."
      ),
      step(
        steps.hasCalls,
        "Receive the first call",
        "Your tools are in the ",
        h("a", { href: "/catalog" }, "catalog"),
        ". To test a call, ",
        h("a", { href: "/developers/register" }, "register as a developer"),
        " and call your tool with that key:",
        h(CodeBlock, {
          text: curl("/api/market/proxy", "$CONSUMER_KEY", {
            tool_name: steps.toolName ?? "<your handle>/search",
            input: {}
          })
        })
      ),
      step(
        steps.isVerified,
        "Verify your identity",
        "Verification raises your trust score. ",
        h("a", { href: pathTo("trust") }, "Verify")
      ),
      step(
        steps.canBePaid,
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
