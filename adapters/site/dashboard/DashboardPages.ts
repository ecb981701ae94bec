/**
 * The dashboards of developers and providers. Their content is loaded with the account's key.
 */
import { Effect } from "effect"
import { publicRead } from "../../http/api/Access.ts"
import { documentRoute } from "../../http/pipeline/Route.ts"
import { html } from "../kit/Html.ts"
import { BaseUrl } from "../../http/BaseUrl.ts"
import { marketDoor } from "../connect/ClientConfigs.ts"
import { connectData, connectStyle } from "../connect/ConnectSection.ts"
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

const PAGES = [
  {
    path: "/developers/dashboard",
    title: "Developer dashboard",
    description: "Balance, spending, calls, budgets, grants, disputes, invoices and API keys.",
    module: "developer/DeveloperDashboard"
  },
  {
    path: "/providers/dashboard",
    title: "Provider dashboard",
    description: "Earnings, calls, tools, payouts, disputes, trust score and API keys.",
    module: "provider/ProviderDashboard"
  }
] as const

export const dashboardRoutes = Effect.map(Effect.all([makeSite, BaseUrl]), ([site, baseUrl]) =>
  PAGES.map((page) => {
    const body = html`
      <h1>${page.title}</h1>
      <div id="dashboard" data-connect="${connectData([["Of all providers", marketDoor(baseUrl)]])}">
        ${needsScript}
      </div>
    `
    return documentRoute(
      page.path,
      publicRead,
      Effect.succeed(site({ ...page, style, charts: true, body })),
      page.title
    )
  })
)
