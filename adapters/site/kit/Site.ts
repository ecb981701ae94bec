/**
 * The layout of the site's pages: navigation, content, footer.
 */
import { Effect } from "effect"
import { API_VERSION } from "../../http/contract/BaseUrl.ts"
import type { EncodedReply } from "../../http/pipeline/Route.ts"
import { Assets, assetsVersion, importsOf } from "./Assets.ts"
import { type Html, html } from "./Html.ts"
import { pageReply } from "./PageDocument.ts"
import { siteStyle } from "./SiteStyle.ts"

export interface SitePage {
  readonly title: string
  readonly description: string
  /** Marked as current in the navigation. */
  readonly path: string
  /** In addition to the site's style. */
  readonly style?: string
  /** Its browser module, as `folder/Name`. The page may call the API unless `connects` is false. */
  readonly module?: string
  /** A module that `module` loads at once: the page loads both together. */
  readonly tabModule?: string
  readonly connects?: boolean
  /** Whether its modules draw charts. */
  readonly charts?: boolean
  readonly status?: number
  readonly body: Html
}

export type Site = (page: SitePage) => EncodedReply

const navigation = [
  ["/catalog", "Catalog"],
  ["/developer", "Developers"],
  ["/provider", "Providers"],
  ["/docs", "Docs"],
  ["/status", "Status"]
] as const

const footerLinks = [
  ["/verify", "Verify a receipt"],
  ["/spec", "Specification"],
  ["/changelog", "Changelog"],
  ["/api/openapi.json", "OpenAPI"],
  ["/llms.txt", "llms.txt"],
  ["/docs/terms", "Terms"],
  ["/docs/privacy", "Privacy"],
  ["/docs/fees", "Fees"]
] as const

/** Every page that the layout links to. */
export const siteLinks: ReadonlyArray<string> = ["/", ...[...navigation, ...footerLinks].map(([to]) => to)]

export const makeSite = Effect.gen(function* () {
  const version = yield* assetsVersion
  const assets = yield* Assets
  const chartStyle = assets.get("uPlot.css")?.source ?? ""
  const site: Site = (page) => {
    const { body, charts, connects, description, module, path, status, style = "", tabModule, title } = page
    const modules = [...new Set(["kit/CopyButtons", module, tabModule])].flatMap((name) =>
      name === undefined ? [] : [`${name}.js`]
    )
    const address = (name: string) => `/assets/${version}/${name}`
    return pageReply({
      title: path === "/" ? title : `${title} · Agent Tool Billing`,
      description,
      style: siteStyle + style + (charts === true ? chartStyle : ""),
      modules: modules.map(address),
      preloads: [...new Set(modules.flatMap((name) => importsOf(assets, name)))].map(address),
      connects: connects ?? module !== undefined,
      ...(status === undefined ? {} : { status }),
      body: html`
        <a class="skip" href="#main">Skip to content</a>
        ${siteHeader(path)}
        <main id="main" tabindex="-1">${body}</main>
        ${siteFooter}
      `
    })
  }
  return site
})

export const siteHeader = (path: string): Html =>
  html`<header class="site">
    <nav aria-label="Site">
      <a class="brand" href="/" ${current(path, "/")}>Agent Tool Billing</a>
      ${navigation.map(([to, name]) => html`<a href="${to}" ${current(path, to)}>${name}</a>`)}
    </nav>
  </header>`

export const siteFooter = html`<footer class="foot">
  ${footerLinks.map(([to, name]) => html`<a href="${to}">${name}</a>`)}
  <span>Version ${API_VERSION}</span>
</footer>`

const current = (path: string, to: string): Html | undefined => (path === to ? html`aria-current="page"` : undefined)

/** Code with a copy button, which a script shows. */
export const copyable = (text: string): Html =>
  html`<div class="copyable">
    <pre><code>${text}</code></pre>
    <button class="tiny" type="button" data-copy hidden>Copy</button>
  </div>`

export const notFoundPage = (site: Site, message: string, hint: Html): EncodedReply =>
  site({
    title: "Not found",
    description: message,
    path: "",
    status: 404,
    body: html`<h1>Not found</h1>
      <p class="lead">${message}</p>
      ${hint}`
  })

export const needsScript = html`<noscript
  ><p class="notice">This page requires JavaScript. You can use the <a href="/docs">API</a> instead.</p></noscript
>`
