/**
 * The dashboards of developers and providers. Their content is loaded with the account's key.
 */
import { Effect } from "effect"
import { BaseUrl } from "../../http/contract/BaseUrl.ts"
import { publicRead } from "../../http/contract/Endpoint.ts"
import { documentRoute, pageRoute, type Route } from "../../http/pipeline/Route.ts"
import { marketDoor } from "../connect/ClientConfigs.ts"
import { connectData, connectStyle } from "../connect/ConnectSection.ts"
import { Assets } from "../kit/Assets.ts"
import { html } from "../kit/Html.ts"
import { makeSite, needsScript, notFoundPage } from "../kit/Site.ts"
import { cardTables, kitStyle } from "../kit/SiteStyle.ts"

const PROVIDER_STYLE = `
.steps .copyable{margin-top:.5rem}
.fields form.stack{max-width:none;grid-template-columns:repeat(auto-fit,minmax(min(100%,18rem),1fr))}
.fields form.stack>:not(.field),.fields .field:has(textarea){grid-column:1/-1}
`

/** Amounts of the whole service are long. */
const OPERATOR_STYLE = ".figures{grid-template-columns:repeat(auto-fit,minmax(min(100%,12rem),1fr))}"

/** The former addresses of dashboards; clients and emails link to them. */
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

// The pages of a console: one document for all of its addresses, which its browser module fills. A tab is a folder below the
// console's own with a module whose name ends in `Tab`.

/** Styles in addition to the site's. */
const consoleStyle = `${kitStyle}
main,.site nav,.foot{max-width:84rem}
main{padding-top:1.5rem}
main h1{font-size:clamp(1.6rem,1.3rem + 1.2vw,2.1rem);margin-bottom:1.1rem}
.console-main h2{font-size:1.3rem;margin:2rem 0 .8rem}
.console-main .toolbar{margin:2rem 0 .8rem}
.console-main .toolbar h2{margin:0}
.console{display:grid;grid-template-columns:14rem minmax(0,1fr);gap:1.5rem;align-items:start}
.console-side{position:sticky;top:1rem}
.console-account{display:flex;flex-direction:column;align-items:flex-start;gap:.5rem;overflow-wrap:anywhere}
.console-tabs{display:flex;flex-direction:column;gap:.15rem}
.console-tabs a{padding:.4rem .7rem;border-radius:8px;color:var(--ink);text-decoration:none}
.console-tabs a:hover{background:var(--panel);text-decoration:underline}
.console-tabs a[aria-current]{background:var(--tint);color:var(--accent);font-weight:650}
.console-main{min-width:0}
.announcements{position:sticky;top:.5rem;z-index:2}
.filters{display:flex;flex-wrap:wrap;gap:.6rem 1rem;align-items:center;margin:0 0 1rem}
.filters input[type=search]{width:15rem;height:2.2rem;max-width:100%;padding:.4rem .6rem}
.filters-action{margin-left:auto;display:flex;gap:.6rem;align-items:center}
.back{display:inline-block;margin-bottom:1rem}
.connect .choice,.choice{margin:0}
.console-account button{white-space:nowrap}
${cardTables("70rem")}
@media (max-width:75rem){.console-main td time{white-space:normal}.console{grid-template-columns:10rem minmax(0,1fr);gap:1rem}}
@media (max-width:52rem){
.console{grid-template-columns:minmax(0,1fr);gap:1rem}
.console-side{position:static}
.console-account{flex-direction:row;justify-content:space-between;align-items:center;margin-bottom:.5rem}
.console-tabs{flex-direction:row;flex-wrap:wrap;gap:.1rem .25rem;border-bottom:1px solid var(--line);padding-bottom:.6rem}
.console-tabs a{padding:.3rem .55rem}
}
`

interface ConsolePages {
  /** Its path, and its folder. */
  readonly folder: string
  readonly title: string
  readonly description: string
  /** Its browser module, as `folder/Name`. */
  readonly module: string
  /** Styles in addition to those of consoles. */
  readonly style?: string
  /** Browser modules read it from `data-connect`. */
  readonly connectData: string
}

/** The tab at the console's own path. */
const FIRST_TAB = "overview"

const consoleRoutes = (pages: ConsolePages) =>
  Effect.gen(function* () {
    const site = yield* makeSite
    const assets = yield* Assets
    const { connectData, description, folder, module, title } = pages
    const tabs = tabModules([...assets.keys()], folder)
    const style = consoleStyle + (pages.style ?? "")
    const body = html`<div id="dashboard" data-connect="${connectData}">
      <h1>${title}</h1>
      ${needsScript}
    </div>`
    const documents = new Map(
      [...tabs].map(([tab, tabModule]) => [
        tab,
        site({ title, description, path: `/${folder}`, modules: [module, tabModule], style, charts: true, body })
      ])
    )
    const first = documents.get(FIRST_TAB)
    const unknown = notFoundPage(site, "This page does not exist.", html`<p><a href="/${folder}">${title}</a></p>`)
    const tabPage = ({ params }: { readonly params: Readonly<Record<string, string | undefined>> }) =>
      Effect.succeed(documents.get(params["tab"] ?? "") ?? unknown)
    return [
      documentRoute(`/${folder}`, publicRead, Effect.succeed(first ?? unknown), title),
      pageRoute(`/${folder}/:tab`, publicRead, `${title}: a tab`, tabPage),
      pageRoute(`/${folder}/:tab/:detail`, publicRead, `${title}: a row of a tab`, tabPage)
    ] satisfies ReadonlyArray<Route>
  })

const TAB = /^(\w+)\/(\w+)\/\w+Tab\.js$/u

/** Module of each tab. */
const tabModules = (names: ReadonlyArray<string>, folder: string): ReadonlyMap<string, string> =>
  new Map(
    names.flatMap((name) => {
      const [, console, tab] = TAB.exec(name) ?? []
      return console === folder && tab !== undefined ? [[tab, name.replace(".js", "")] as const] : []
    })
  )
