/**
 * The frame of /providers/dashboard. What it shows comes with the provider's key, which no page is ever sent.
 */
import { Effect } from "effect"
import { publicRead } from "../../http/api/Access.ts"
import { documentRoute } from "../../http/pipeline/Route.ts"
import { html } from "../kit/Html.ts"
import { makeSite, type Site } from "../kit/Site.ts"

export const providerDashboardRoutes = Effect.map(makeSite, (site) => [
  documentRoute("/providers/dashboard", publicRead, Effect.succeed(page(site)), "The provider's dashboard")
])

/** Its forms are wider than those of the other pages, and what it shows waits for the first call. */
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
    description: "What your tools earn, how they do, and how you are paid.",
    path: "/providers/dashboard",
    module: "provider/ProviderDashboard",
    charts: true,
    style,
    body: html`
      <h1>Provider dashboard</h1>
      <div id="dashboard">
        <noscript
          ><p class="notice">
            The dashboard needs JavaScript. Everything on it is in the API too, as the
            <a href="/docs">documentation</a> shows.
          </p></noscript
        >
      </div>
    `
  })
