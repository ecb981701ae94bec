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
import { consoleStyle } from "./ConsoleStyle.ts"

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
