/**
 * The frame of the developer's dashboard; what is in it comes from the service as the key's owner may see it.
 */
import { Effect } from "effect"
import { publicRead } from "../../http/api/Access.ts"
import { documentRoute } from "../../http/pipeline/Route.ts"
import { html } from "../kit/Html.ts"
import { makeSite } from "../kit/Site.ts"

export const developerDashboardRoutes = Effect.map(makeSite, (site) => [
  documentRoute(
    "/developers/dashboard",
    publicRead,
    Effect.succeed(
      site({
        title: "Developer dashboard",
        description: "Balance, spending, calls and their receipts, budgets, grants, invoices and keys of a developer.",
        path: "/developers/dashboard",
        module: "developer/DeveloperDashboard",
        charts: true,
        body: html`
          <h1>Developer dashboard</h1>
          <div id="dashboard">
            <noscript
              ><p class="notice">The dashboard needs JavaScript; the <a href="/docs">API</a> does not.</p></noscript
            >
          </div>
        `
      })
    ),
    "A developer's dashboard"
  )
])
