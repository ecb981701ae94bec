/**
 * The provider dashboard. Its content is loaded with the provider's key.
 */
import { Effect } from "effect"
import { publicRead } from "../../http/api/Access.ts"
import { documentRoute } from "../../http/pipeline/Route.ts"
import { html } from "../kit/Html.ts"
import { makeSite, needsScript, type Site } from "../kit/Site.ts"

export const providerDashboardRoutes = Effect.map(makeSite, (site) => [
  documentRoute("/providers/dashboard", publicRead, Effect.succeed(page(site)), "Provider dashboard")
])

/** Panels with the class `later` are hidden until the first call. */
const style = `
.new .later,.begun .first{display:none}
.steps .copyable{margin-top:.5rem}
.wide form.stack{max-width:none;grid-template-columns:repeat(auto-fit,minmax(min(100%,18rem),1fr))}
.wide form.stack>:not(.field),.wide .field:has(textarea){grid-column:1/-1}
.wide{margin-bottom:1.5rem}
.wide>.toolbar{margin-bottom:1rem}
`

const page = (site: Site) =>
  site({
    title: "Provider dashboard",
    description: "Earnings, calls, tools, payouts, disputes, trust score and API keys.",
    path: "/providers/dashboard",
    module: "provider/ProviderDashboard",
    charts: true,
    style,
    body: html`
      <h1>Provider dashboard</h1>
      <div id="dashboard">${needsScript}</div>
    `
  })
