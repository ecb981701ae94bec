/**
 * The dashboards of developers and providers. Their content is loaded with the account's key.
 */
import { Effect } from "effect"
import { publicRead } from "../../http/contract/Access.ts"
import { pageRoute } from "../../http/pipeline/Route.ts"
import { BaseUrl } from "../../http/contract/BaseUrl.ts"
import { marketDoor } from "../connect/ClientConfigs.ts"
import { connectData, connectStyle } from "../connect/ConnectSection.ts"
import { consoleRoutes } from "../console/ConsolePages.ts"

const PROVIDER_STYLE = `
.steps .copyable{margin-top:.5rem}
.fields form.stack{max-width:none;grid-template-columns:repeat(auto-fit,minmax(min(100%,18rem),1fr))}
.fields form.stack>:not(.field),.fields .field:has(textarea){grid-column:1/-1}
`

/** Amounts of the whole service are long. */
const OPERATOR_STYLE = ".figures{grid-template-columns:repeat(auto-fit,minmax(min(100%,12rem),1fr))}"

/** Where the dashboards were; clients and emails link to them. */
const FORMER_PATHS = { consumer: "/developers/dashboard", provider: "/providers/dashboard" } as const

/** A checkout returns with its result, which the Funds tab shows. */
const movedTo = (query: Readonly<Record<string, string>>): string => {
  const load = query["load"]
  return load === undefined ? "/developer" : `/developer/funds?${new URLSearchParams({ load })}`
}

export const dashboardRoutes = Effect.gen(function* () {
  const connect = connectData([["Of all providers", marketDoor(yield* BaseUrl)]])
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
    ...(yield* consoleRoutes({
      folder: "provider",
      title: "Provider dashboard",
      description: "Tools, calls, earnings, payouts, trust score, disputes and API keys.",
      module: "provider/ProviderConsole",
      style: PROVIDER_STYLE,
      connectData: ""
    })),
    pageRoute(FORMER_PATHS.consumer, publicRead, "Redirects to the developer dashboard", ({ query }) =>
      Effect.succeed(redirect(movedTo(query)))
    ),
    pageRoute(FORMER_PATHS.provider, publicRead, "Redirects to the provider dashboard", () =>
      Effect.succeed(redirect("/provider"))
    )
  ]
})

const redirect = (location: string) => ({ status: 302, headers: { location }, body: "" })
