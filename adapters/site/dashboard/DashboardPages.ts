/**
 * The dashboards of developers and providers. Their content is loaded with the account's key.
 */
import { Effect } from "effect"
import { publicRead } from "../../http/api/Access.ts"
import { documentRoute, pageRoute } from "../../http/pipeline/Route.ts"
import { BaseUrl } from "../../http/BaseUrl.ts"
import { marketDoor } from "../connect/ClientConfigs.ts"
import { connectData, connectStyle } from "../connect/ConnectSection.ts"
import { consoleRoutes } from "../console/ConsolePages.ts"
import { html } from "../kit/Html.ts"
import { makeSite, needsScript } from "../kit/Site.ts"

/** Providers see onboarding before, and the panels about calls after their first call. */
const style = `${connectStyle}
.no-calls .after-first-call,.onboarded .onboarding{display:none}
.steps .copyable{margin-top:.5rem}
.wide form.stack{max-width:none;grid-template-columns:repeat(auto-fit,minmax(min(100%,18rem),1fr))}
.wide form.stack>:not(.field),.wide .field:has(textarea){grid-column:1/-1}
.wide{margin-bottom:1.5rem}
.wide>.toolbar{margin-bottom:1rem}
`

/** Amounts of the whole service are long. */
const OPERATOR_STYLE = ".figures{grid-template-columns:repeat(auto-fit,minmax(min(100%,12rem),1fr))}"

const PROVIDER = {
  path: "/providers/dashboard",
  title: "Provider dashboard",
  description: "Earnings, calls, tools, payouts, disputes, trust score and API keys.",
  module: "provider/ProviderDashboard"
} as const

/** Where the developer dashboard was; clients and emails link to it. */
const FORMER_PATH = "/developers/dashboard"

/** A checkout returns with its result, which the Funds tab shows. */
const movedTo = (query: Readonly<Record<string, string>>): string => {
  const load = query["load"]
  return load === undefined ? "/developer" : `/developer/funds?${new URLSearchParams({ load })}`
}

export const dashboardRoutes = Effect.gen(function* () {
  const site = yield* makeSite
  const connect = connectData([["Of all providers", marketDoor(yield* BaseUrl)]])
  const body = html`
    <h1>${PROVIDER.title}</h1>
    <div id="dashboard" data-connect="${connect}">${needsScript}</div>
  `
  return [
    ...(yield* consoleRoutes({
      folder: "developer",
      title: "Developer dashboard",
      description: "Balance, spending, calls, budgets, grants, disputes, invoices and API keys.",
      module: "developer/DeveloperConsole",
      style: connectStyle,
      connectData: connect
    })),
    ...(yield* consoleRoutes({
      folder: "operator",
      title: "Operator console",
      description: "Solvency, disputes, accounts, payouts, losses, the log, jobs and the audit trail.",
      module: "operator/OperatorConsole",
      style: OPERATOR_STYLE,
      connectData: ""
    })),
    pageRoute(FORMER_PATH, publicRead, "Redirects to the developer dashboard", ({ query }) =>
      Effect.succeed({ status: 302, headers: { location: movedTo(query) }, body: "" })
    ),
    documentRoute(
      PROVIDER.path,
      publicRead,
      Effect.succeed(site({ ...PROVIDER, style, charts: true, body })),
      PROVIDER.title
    )
  ]
})
