/**
 * Files that crawlers, browsers and security researchers look for: robots.txt, sitemap.xml, security.txt and the icon.
 */
import { DateTime, Effect } from "effect"
import { BaseUrl } from "../../http/contract/BaseUrl.ts"
import { publicRead } from "../../http/contract/Endpoint.ts"
import { documentRoute, type EncodedReply, type Route } from "../../http/pipeline/Route.ts"
import { HttpSettings } from "../../http/pipeline/Stages.ts"
import { docsNavigation } from "../docs/DocsNavigation.ts"
import { html } from "../kit/Html.ts"
import { ICON_SVG, siteLinks } from "../kit/Site.ts"

/** RFC 9116 recommends less than a year. */
const SECURITY_TXT_DAYS = 180

/** Pages without content of their own. */
const CONSOLES = ["/developer", "/operator", "/provider"]
/** Consoles, and answers for one caller. Registration, at `/providers/register`, is crawled. */
const NOT_CRAWLED = ["/api/market/", "/api/v1/", "/mcp", ...CONSOLES.flatMap((path) => [`${path}$`, `${path}/`])]

export const crawlerRoutes = Effect.gen(function* () {
  const baseUrl = yield* BaseUrl
  const { securityContact: contact } = yield* HttpSettings
  const robots = [
    "User-agent: *",
    ...NOT_CRAWLED.map((path) => `Disallow: ${path}`),
    "",
    `Sitemap: ${baseUrl}/sitemap.xml`,
    ""
  ].join("\n")
  const icon = reply("image/svg+xml", ICON_SVG)
  const routes: ReadonlyArray<Route> = [
    documentRoute("/robots.txt", publicRead, Effect.succeed(reply(PLAIN, robots)), "Rules for crawlers"),
    documentRoute("/sitemap.xml", publicRead, Effect.succeed(reply("application/xml", sitemap(baseUrl))), "Sitemap"),
    documentRoute("/favicon.svg", publicRead, Effect.succeed(icon), UNLISTED),
    documentRoute("/favicon.ico", publicRead, Effect.succeed(icon), UNLISTED)
  ]
  if (contact === undefined) return routes
  const security = Effect.map(DateTime.now, (now) =>
    reply(
      PLAIN,
      [
        `Contact: ${contact}`,
        `Expires: ${DateTime.formatIso(DateTime.add(now, { days: SECURITY_TXT_DAYS }))}`,
        "Preferred-Languages: en",
        `Canonical: ${baseUrl}/.well-known/security.txt`,
        ""
      ].join("\n")
    )
  )
  return [...routes, documentRoute("/.well-known/security.txt", publicRead, security, "Contact for security reports")]
})

const PLAIN = "text/plain; charset=utf-8"
const UNLISTED = ""

const reply = (contentType: string, body: string): EncodedReply => ({
  status: 200,
  headers: { "content-type": contentType },
  body
})

/** Pages for people. Tools are found through the catalog. */
const sitemap = (baseUrl: string): string => {
  const pages = new Set([
    ...siteLinks.filter((path) => !path.includes(".") && !CONSOLES.includes(path)),
    ...docsNavigation().order.map(({ path }) => path)
  ])
  const urls = [...pages].map((path) => html`<url><loc>${baseUrl}${path}</loc></url> `.markup)
  return `<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n${urls.join("")}</urlset>\n`
}
