/**
 * The site's pages: the document, and its layout of navigation, content and footer.
 */
import { Effect } from "effect"
import { createHash } from "node:crypto"
import { API_VERSION } from "../../http/contract/BaseUrl.ts"
import type { EncodedReply } from "../../http/pipeline/Route.ts"
import { Assets, assetsVersion, importsOf } from "./Assets.ts"
import { type Html, html } from "./Html.ts"
import { siteStyle } from "./SiteStyle.ts"

// HTML pages with inline style and, where needed, scripts of this service. The content security policy allows nothing else.

interface PageParts {
  readonly title: string
  readonly description: string
  readonly style: string
  /** URLs of this service's modules. */
  readonly modules?: ReadonlyArray<string>
  /** URLs of the modules that those import. */
  readonly preloads?: ReadonlyArray<string>
  /** Scripts may send requests to the service. */
  readonly connects?: boolean
  readonly status?: number
  readonly body: Html
}

export const pageReply = (parts: PageParts): EncodedReply => ({
  status: parts.status ?? 200,
  headers: {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": policyFor(parts)
  },
  body: pageText(parts)
})

const policyFor = ({ connects, modules, style }: PageParts): string =>
  [
    "default-src 'none'",
    `style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'`,
    ...(modules === undefined ? [] : ["script-src 'self'"]),
    ...(connects === true ? ["connect-src 'self'"] : []),
    "img-src 'self' data:",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'"
  ].join("; ")

export const ICON_SVG =
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#0f6b50"/>` +
  `<path d="M9 21V11h14M9 16h10M23 11v10" fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round" stroke-linejoin="round"/></svg>`

/** Inline, so that browsers do not request /favicon.ico. */
const ICON = `data:image/svg+xml,${encodeURIComponent(ICON_SVG)}`

const pageText = ({ title, description, modules = [], preloads = [], style, body }: PageParts): string =>
  html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<meta name="description" content="${description}">
<link rel="icon" href="${ICON}">
<style>`.markup +
  style +
  html`</style>
${preloads.map((preload) => html`<link rel="modulepreload" href="${preload}" />`)}
${modules.map((module) => html`<script type="module" src="${module}"></script>`)}
</head>
<body>${body}</body>
</html>
`.markup

interface SitePage {
  readonly title: string
  readonly description: string
  /** Marked as current in the navigation. */
  readonly path: string
  /** Styles in addition to the site's. */
  readonly style?: string
  /** Its browser modules, as `folder/Name`. A page with modules may call the API unless `connects` is false. */
  readonly modules?: ReadonlyArray<string>
  readonly connects?: boolean
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
    const { body, charts, connects, description, path, status, style = "", title } = page
    const modules = [...new Set(["kit/CopyButtons", ...(page.modules ?? [])])].map((name) => `${name}.js`)
    const address = (name: string) => `/assets/${version}/${name}`
    return pageReply({
      title: path === "/" ? title : `${title} · Agent Tool Billing`,
      description,
      style: siteStyle + style + (charts === true ? chartStyle : ""),
      modules: modules.map(address),
      preloads: [...new Set(modules.flatMap((name) => importsOf(assets, name)))].map(address),
      connects: connects ?? page.modules !== undefined,
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
