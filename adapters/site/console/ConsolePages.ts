/**
 * The pages of a console: one document for all of its addresses, which its browser module fills. A tab is a folder below the
 * console's own with a module whose name ends in `Tab`.
 */
import { Effect } from "effect"
import { publicRead } from "../../http/contract/Access.ts"
import { documentRoute, pageRoute, type Route } from "../../http/pipeline/Route.ts"
import { Assets } from "../kit/Assets.ts"
import { html } from "../kit/Html.ts"
import { makeSite, needsScript, notFoundPage } from "../kit/Site.ts"
import { cardTables } from "../kit/SiteStyle.ts"

/** Styles of the components that consoles and other pages share. */
export const kitStyle = `
.hidden{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.dismissible{display:grid;grid-template-columns:minmax(0,1fr) auto;gap:.75rem;align-items:start}
.skeleton{display:grid;gap:.75rem;opacity:0;animation:shown 0s 300ms forwards}
.skeleton>div{height:1.5rem;border-radius:8px;background:var(--tint)}
.skeleton>div:nth-of-type(2){width:80%}
.skeleton>div:nth-of-type(3){width:60%}
@keyframes shown{to{opacity:1}}
@media (prefers-reduced-motion:no-preference){.skeleton>div{animation:pulse 1.6s ease-in-out infinite}}
@keyframes pulse{50%{opacity:.45}}
form.row{align-items:flex-start}
form.row .field{flex:1 1 12rem;max-width:20rem}
form.row .row-actions{margin-top:1.85rem;display:flex;gap:.5rem}
form.row .form-status{flex-basis:100%}
.form-status:empty{display:none}
button.sort{text-align:inherit;background:none;border:0;color:inherit;padding:0;font:inherit;cursor:pointer}
table.data td .actions{margin:0;justify-content:flex-end}
td.right .actions{justify-content:flex-end}
.value{display:inline-flex;flex-wrap:wrap;gap:.3rem .5rem;align-items:center}
.checks{list-style:none;padding:0;display:grid;gap:.5rem}
.checks li{display:grid;grid-template-columns:1.5rem minmax(0,1fr);margin:0}
.sign-in{max-width:36rem}
@media (max-width:40rem){
form.row .row-actions{margin-top:0;flex-basis:100%}
form.row .field{max-width:none;flex-basis:100%}
}
`

export const consoleStyle = `${kitStyle}
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
.wide{max-width:none}
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

/** Styles of the consoles, in addition to the site's. */
export interface ConsolePages {
  /** Its path, and its folder. */
  readonly folder: string
  readonly title: string
  readonly description: string
  /** Its browser module, as `folder/Name`. */
  readonly module: string
  /** In addition to the styles of consoles. */
  readonly style?: string
  /** For its browser modules: the value of `data-connect`. */
  readonly connectData: string
}

/** The tab at the console's own path. */
const FIRST_TAB = "overview"

export const consoleRoutes = (pages: ConsolePages) =>
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
        site({ title, description, path: `/${folder}`, module, tabModule, style, charts: true, body })
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
