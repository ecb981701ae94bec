/**
 * The frame of /providers/dashboard. What it shows comes with the provider's key, which no page is ever sent.
 */
import { Effect } from "effect"
import { publicRead } from "../api/Access.ts"
import { documentRoute } from "../pipeline/Route.ts"
import { html } from "./Html.ts"
import { makeSite, type Site } from "./Site.ts"

export const providerDashboardRoutes = Effect.map(makeSite, (site) => [
  documentRoute("/providers/dashboard", publicRead, Effect.succeed(page(site)), "The provider's dashboard")
])

const style = `
.jump{display:flex;flex-wrap:wrap;gap:.25rem 1.1rem;border-bottom:1px solid var(--line);padding:.5rem 0 .9rem}
.choice{display:flex;align-items:center;gap:.5rem}
.choice label{color:var(--muted);font-size:.9375rem}
.choice select{width:auto;padding:.3rem .5rem}
.new .later{display:none}
.steps>li{margin-bottom:1rem}
.steps .copyable{margin-top:.5rem}
.wide form.stack{max-width:none;grid-template-columns:repeat(auto-fit,minmax(min(100%,18rem),1fr))}
.wide form.stack>:not(.field),.wide .field:has(textarea){grid-column:1/-1}
.wide{margin-bottom:1.5rem}
.wide>.toolbar{margin-bottom:1rem}
blockquote{margin:0 0 1rem;padding:.1rem 0 .1rem .9rem;border-left:3px solid var(--line);overflow-wrap:anywhere;white-space:pre-wrap}
meter{width:7rem}
h4{font-size:1.0625rem;margin:0 0 .35rem}
.panel h3{margin-top:1.75rem}
`

const page = (site: Site) =>
  site({
    title: "Provider dashboard",
    description: "What your tools earn, how they do, and how you are paid.",
    path: "/providers/dashboard",
    module: "ProviderDashboard",
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
