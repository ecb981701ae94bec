/**
 * Where people join: as a developer, whose agents call tools, or as a provider, who sells them.
 */
import { Effect } from "effect"
import { publicRead } from "../../http/api/Access.ts"
import { documentRoute } from "../../http/pipeline/Route.ts"
import { html } from "../kit/Html.ts"
import { makeSite, type Site } from "../kit/Site.ts"

export const registerRoutes = Effect.map(makeSite, (site) => [
  documentRoute("/developers/register", publicRead, Effect.succeed(developers(site)), "Join as a developer"),
  documentRoute("/providers/register", publicRead, Effect.succeed(providers(site)), "Join as a provider")
])

const developers = (site: Site) =>
  site({
    title: "Join as a developer",
    description: "Register, get a key, and let your agent call priced tools with receipts for every call.",
    path: "/developers/register",
    module: "register/RegisterPage",
    body: html`
      <h1>Join as a developer</h1>
      <p class="lead">
        One key for every tool in the catalogue. Your agent sees what a call costs before it makes it, pays for what was
        delivered, and gets a receipt that anybody can verify.
      </p>
      <section id="register" data-role="consumer">${needsScript("register-consumer")}</section>
      <p>Do you have a key? <a href="/developers/dashboard">Open your dashboard</a>.</p>
    `
  })

const providers = (site: Site) =>
  site({
    title: "Join as a provider",
    description: "Register an MCP server, price its tools, and be paid for every call.",
    path: "/providers/register",
    module: "register/RegisterPage",
    body: html`
      <h1>Join as a provider</h1>
      <p class="lead">
        Register your MCP server and price its tools. Calls come in already paid for; you keep 90 % and are paid out
        from $10.00.
      </p>
      <section id="register" data-role="provider">${needsScript("register-provider")}</section>
      <p>Do you have a key? <a href="/providers/dashboard">Open your dashboard</a>.</p>
    `
  })

const needsScript = (endpoint: string) =>
  html`<noscript
    ><p class="notice">
      The form needs JavaScript. Without it: <code>POST /api/market/${endpoint}</code>, as the
      <a href="/docs">documentation</a> shows.
    </p></noscript
  >`
