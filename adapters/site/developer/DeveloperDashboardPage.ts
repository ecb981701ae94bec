/**
 * The developer dashboard. Its content is loaded with the developer's key.
 */
import { Effect } from "effect"
import { publicRead } from "../../http/api/Access.ts"
import { documentRoute } from "../../http/pipeline/Route.ts"
import { html } from "../kit/Html.ts"
import { makeSite, needsScript } from "../kit/Site.ts"

export const developerDashboardRoutes = Effect.map(makeSite, (site) => [
  documentRoute(
    "/developers/dashboard",
    publicRead,
    Effect.succeed(
      site({
        title: "Developer dashboard",
        description: "Balance, spending, calls, budgets, grants, disputes, invoices and API keys.",
        path: "/developers/dashboard",
        module: "developer/DeveloperDashboard",
        charts: true,
        body: html`
          <h1>Developer dashboard</h1>
          <div id="dashboard">${needsScript}</div>
        `
      })
    ),
    "Developer dashboard"
  )
])
