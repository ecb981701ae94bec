/**
 * The registration pages for developers and providers.
 */
import { Effect } from "effect"
import { publicRead } from "../../http/contract/Endpoint.ts"
import { documentRoute } from "../../http/pipeline/Route.ts"
import { html } from "../kit/Html.ts"
import { makeSite, needsScript } from "../kit/Site.ts"
import { kitStyle } from "../kit/SiteStyle.ts"

const PAGES = [
  {
    path: "/developers",
    role: "consumer",
    title: "Register as a developer",
    description: "One key for every tool in the catalog. Know the price before each call, and get a receipt after it."
  },
  {
    path: "/providers",
    role: "provider",
    title: "Register as a provider",
    description:
      "Set a price for each tool of your MCP server. You keep 90% of every paid call; payouts start at $10.00."
  }
] as const

export const registerRoutes = Effect.map(makeSite, (site) =>
  PAGES.map(({ description, path, role, title }) =>
    documentRoute(
      `${path}/register`,
      publicRead,
      Effect.succeed(
        site({
          title,
          description,
          path: `${path}/register`,
          style: kitStyle,
          modules: ["register/RegisterPage"],
          body: html`
            <h1>${title}</h1>
            <p class="lead">${description}</p>
            <section id="register" data-role="${role}">${needsScript}</section>
            <p>Already registered? <a href="${path}/dashboard">Open your dashboard</a>.</p>
          `
        })
      ),
      title
    )
  )
)
